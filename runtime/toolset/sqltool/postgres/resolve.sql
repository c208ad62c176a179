-- What there is of the names of a statement, under the search path pg_catalog, $1. It is
-- the first query of a transaction, whose mode can't be changed behind it. $10 are the
-- types of reserved.sql.
WITH path(schema, at) AS (VALUES ('pg_catalog', 1), ($1, 2)),
relations AS (
  SELECT q.i, c.oid, n.nspname AS schema, c.relname AS name, c.relkind AS kind,
    (SELECT coalesce(json_agg(a.attname), '[]') FROM pg_attribute a WHERE a.attrelid = c.oid AND NOT a.attisdropped) AS columns,
    CASE WHEN c.relname <> lower(c.relname) THEN (SELECT count(*) FROM pg_class t WHERE t.relnamespace = c.relnamespace AND lower(t.relname) = lower(c.relname)) ELSE 1 END AS twins
  FROM unnest($2::text[], $3::text[]) WITH ORDINALITY AS q(schema, name, i)
  JOIN LATERAL (
    SELECT c.oid FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace LEFT JOIN path p ON p.schema = n.nspname
    WHERE c.relname = q.name AND (q.schema = '' AND p.at IS NOT NULL OR q.schema = n.nspname) ORDER BY p.at LIMIT 1
  ) found ON true JOIN pg_class c ON c.oid = found.oid JOIN pg_namespace n ON n.oid = c.relnamespace
),
functions AS (
  SELECT q.i, n.nspname AS schema, p.proargtypes::text AS args, pg_get_function_identity_arguments(p.oid) AS shown,
    p.provolatile <> 'v' AS steady, p.pronargdefaults = 0 AND p.provariadic = 0 AS plain,
    l.lanname IN ('c', 'internal') AS native, coalesce(x.extname, '') AS extension,
    p.pronargs - p.pronargdefaults <= 1 AND p.pronargs >= 1 OR p.provariadic <> 0 AS unary,
    NOT $10::oid[] && (p.proargtypes::oid[] || p.prorettype || coalesce(p.proallargtypes, '{}')) AS clean,
    (SELECT coalesce(json_agg(a.at - 1), '[]') FROM unnest(p.proargtypes::oid[]) WITH ORDINALITY AS a(type, at)
      WHERE a.type IN ('regconfig'::regtype, 'regdictionary'::regtype)) AS configs, p.pronargs AS count
  FROM unnest($4::text[], $5::text[]) WITH ORDINALITY AS q(schema, name, i)
  JOIN pg_proc p ON p.proname = q.name JOIN pg_namespace n ON n.oid = p.pronamespace JOIN pg_language l ON l.oid = p.prolang
  LEFT JOIN pg_depend d ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e' LEFT JOIN pg_extension x ON x.oid = d.refobjid AND d.refclassid = 'pg_extension'::regclass
  WHERE q.schema = '' AND n.nspname IN (SELECT schema FROM path) OR q.schema = n.nspname
),
types AS (
  SELECT q.i, n.nspname AS schema, t.typname AS name, t.typtype AS kind, e.typname ~ '^reg(config|dictionary)$' AS config,
    $10::oid[] && ARRAY[e.oid, t.oid, e.typbasetype] OR e.typtype = 'p' AND e.typname <> 'record'
      OR e.typrelid <> 0 AND EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = e.typrelid AND a.atttypid = ANY ($10::oid[])) AS reserved,
    n.nspname = 'pg_catalog' OR x.extname IS NOT NULL OR e.typtype IN ('e', 'd', 'r', 'm', 'c') AS known, coalesce(x.extname, '') AS extension,
    coalesce(rn.nspname, '') AS of_schema, coalesce(r.relname, '') AS of_name, coalesce(r.relkind, ' ') AS of_kind,
    EXISTS (SELECT FROM pg_cast k JOIN pg_proc f ON f.oid = k.castfunc JOIN pg_language l ON l.oid = f.prolang
      WHERE k.casttarget = t.oid AND l.lanname NOT IN ('c', 'internal') AND k.oid >= 16384) AS cast_by_code
  FROM unnest($6::text[], $7::text[]) WITH ORDINALITY AS q(schema, name, i)
  JOIN LATERAL (
    SELECT t.oid FROM pg_type t JOIN pg_namespace n ON n.oid = t.typnamespace LEFT JOIN path p ON p.schema = n.nspname
    WHERE t.typname = q.name AND (q.schema = '' AND p.at IS NOT NULL OR q.schema = n.nspname) ORDER BY p.at LIMIT 1
  ) found ON true JOIN pg_type t ON t.oid = found.oid JOIN pg_namespace n ON n.oid = t.typnamespace
  JOIN pg_type e ON e.oid = CASE WHEN t.typlen = -1 AND t.typelem <> 0 THEN t.typelem ELSE t.oid END
  LEFT JOIN pg_class r ON r.oid = e.typrelid LEFT JOIN pg_namespace rn ON rn.oid = r.relnamespace
  LEFT JOIN pg_depend d ON d.classid = 'pg_type'::regclass AND d.objid = e.oid AND d.deptype = 'e' LEFT JOIN pg_extension x ON x.oid = d.refobjid AND d.refclassid = 'pg_extension'::regclass
),
operators AS (
  SELECT q.i, n.nspname AS schema, o.oprname AS name, fn.nspname AS function_schema, f.proname AS function, f.provolatile <> 'v' AS steady, l.lanname IN ('c', 'internal') AS native
  FROM unnest($8::text[], $9::text[]) WITH ORDINALITY AS q(schema, name, i)
  JOIN pg_operator o ON o.oprname = q.name JOIN pg_namespace n ON n.oid = o.oprnamespace
  JOIN pg_proc f ON f.oid = o.oprcode JOIN pg_namespace fn ON fn.oid = f.pronamespace JOIN pg_language l ON l.oid = f.prolang
  WHERE n.nspname <> 'pg_catalog' AND (q.schema = '' AND n.nspname IN (SELECT schema FROM path) OR q.schema = n.nspname)
)
SELECT json_build_object(
  'path', current_setting('search_path'), 'read_only', current_setting('transaction_read_only'), 'strings', current_setting('standard_conforming_strings'),
  'relations', (SELECT coalesce(json_agg(relations), '[]') FROM relations), 'functions', (SELECT coalesce(json_agg(functions), '[]') FROM functions),
  'types', (SELECT coalesce(json_agg(types), '[]') FROM types), 'operators', (SELECT coalesce(json_agg(operators), '[]') FROM operators))::text
