-- What is reached through the relations of a statement: $1 are views, of which the
-- relations below are read or written; $2 and $3 are tables whose rows are updated and
-- deleted, and with them those of tables whose foreign keys say so; $4 are all that are
-- written, whose rules reach others.
WITH RECURSIVE below(oid) AS (
  SELECT unnest($1::oid[]) UNION
  SELECT d.refobjid FROM below b JOIN pg_rewrite r ON r.ev_class = b.oid AND r.ev_type = '1'
  JOIN pg_depend d ON d.classid = 'pg_rewrite'::regclass AND d.objid = r.oid AND d.refclassid = 'pg_class'::regclass
),
keys AS (
  SELECT conrelid, confrelid, confupdtype IN ('c', 'n', 'd') AS by_update, confdeltype IN ('c', 'n', 'd') AS by_delete FROM pg_constraint WHERE contype = 'f'
),
changed(oid, updated, deleted) AS (
  SELECT oid, true, false FROM unnest($2::oid[]) AS oid UNION SELECT oid, false, true FROM unnest($3::oid[]) AS oid
  UNION
  SELECT k.oid, c.updated AND NOT k.key OR k.key, c.deleted AND NOT k.key OR k.key FROM changed c CROSS JOIN LATERAL (
    SELECT i.inhrelid AS oid, false AS key FROM pg_inherits i WHERE i.inhparent = c.oid
    UNION ALL SELECT d.refobjid, false FROM pg_rewrite r JOIN pg_depend d ON d.classid = 'pg_rewrite'::regclass AND d.objid = r.oid AND d.refclassid = 'pg_class'::regclass
      WHERE r.ev_class = c.oid AND r.ev_type = '1'
    UNION ALL SELECT k.conrelid, true FROM keys k WHERE k.confrelid = c.oid AND (k.by_update AND c.updated OR k.by_delete AND c.deleted)
  ) k
)
SELECT coalesce(json_agg(json_build_object('schema', n.nspname, 'name', r.relname, 'kind', r.relkind, 'policies', r.relrowsecurity, 'how', b.how)), '[]')::text
FROM (
  SELECT oid, 'view' AS how FROM below
  UNION SELECT coalesce(pg_partition_root(c.oid), c.oid), 'key' FROM changed c
  WHERE NOT EXISTS (SELECT FROM pg_inherits i JOIN changed p ON p.oid = i.inhparent WHERE i.inhrelid = c.oid)
  UNION SELECT d.refobjid, 'rule' FROM pg_rewrite r JOIN pg_depend d ON d.classid = 'pg_rewrite'::regclass AND d.objid = r.oid AND d.refclassid = 'pg_class'::regclass
  WHERE r.ev_type <> '1' AND (r.ev_class = ANY ($4::oid[]) OR r.ev_class IN (SELECT oid FROM changed) OR r.ev_class IN (SELECT oid FROM below))
) b
JOIN pg_class r ON r.oid = b.oid JOIN pg_namespace n ON n.oid = r.relnamespace
