-- The types that name what there is in the database, or are no values: a text that is cast
-- to one says whether there is such a table, and a number its name.
SELECT coalesce(array_agg(oid), '{}')::text FROM pg_type WHERE typnamespace = 'pg_catalog'::regnamespace AND (
  typname ~ '^_?reg' AND typname !~ '^_?reg(config|dictionary)$'
  OR typname ~ '^_?(aclitem|pg_node_tree|pg_ddl_command|gtsvector|pg_brin_.*)$'
  OR typname IN ('cstring', '_cstring', 'internal')
  OR typtype = 'p' AND typname !~ '^any' AND typname NOT IN ('record', '_record'))
