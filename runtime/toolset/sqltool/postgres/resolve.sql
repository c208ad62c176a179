-- What there is of the names of a statement, under the search path pg_catalog, $1. It is
-- the first query of a transaction, whose mode can't be changed behind it. $10 are the
-- types of reserved.sql, $11 whether the statement has syntax that makes JSON or XML, $12
-- the server's own setting of jit. What users have made has numbers from 16384 on.
WITH RECURSIVE path(schema, at) AS (VALUES ('pg_catalog', 1), ($1, 2)),
relations AS (
  SELECT q.i, c.oid, n.nspname AS schema, c.relname AS name, c.relkind AS kind, c.reltype, c.relrowsecurity AS policies,
    (SELECT coalesce(json_agg(a.attname), '[]') FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped) AS columns,
    CASE WHEN c.relname <> lower(c.relname COLLATE "C") THEN (SELECT count(*) FROM pg_class t WHERE t.relnamespace = c.relnamespace AND lower(t.relname COLLATE "C") = lower(c.relname COLLATE "C")) ELSE 1 END AS twins
  FROM unnest($2::text[], $3::text[]) WITH ORDINALITY AS q(schema, name, i)
  JOIN LATERAL (
    SELECT c.oid FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace LEFT JOIN path p ON p.schema = n.nspname
    WHERE c.relname = q.name AND (q.schema = '' AND p.at IS NOT NULL OR q.schema = n.nspname) ORDER BY p.at LIMIT 1
  ) found ON true JOIN pg_class c ON c.oid = found.oid JOIN pg_namespace n ON n.oid = c.relnamespace
),
functions AS (
  SELECT q.i, p.oid, n.nspname AS schema, p.proname AS name, p.proargtypes::text AS args,
    p.provolatile <> 'v' AS steady, p.pronargdefaults = 0 AND p.provariadic = 0 AS plain,
    l.lanname IN ('c', 'internal') AS native, coalesce(x.extname, '') AS extension,
    p.pronargs - p.pronargdefaults <= 1 AND p.pronargs >= 1 OR p.provariadic <> 0 AS unary,
    NOT $10::oid[] && (p.proargtypes::oid[] || p.prorettype || coalesce(p.proallargtypes, '{}')) AS clean,
    (SELECT coalesce(json_agg(a.at - 1), '[]') FROM unnest(p.proargtypes::oid[]) WITH ORDINALITY AS a(type, at)
      WHERE a.type IN ('regconfig'::regtype, 'regdictionary'::regtype)) AS configs, p.pronargs AS count, p.pronargs - p.pronargdefaults AS least, p.provariadic <> 0 AS variadic
  FROM unnest($4::text[], $5::text[]) WITH ORDINALITY AS q(schema, name, i)
  JOIN pg_proc p ON p.proname = q.name JOIN pg_namespace n ON n.oid = p.pronamespace JOIN pg_language l ON l.oid = p.prolang
  LEFT JOIN pg_depend d ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e' LEFT JOIN pg_extension x ON x.oid = d.refobjid AND d.refclassid = 'pg_extension'::regclass
  WHERE q.schema = '' AND n.nspname IN (SELECT schema FROM path) OR q.schema = n.nspname
),
named AS (
  SELECT q.i, found.oid FROM unnest($6::text[], $7::text[]) WITH ORDINALITY AS q(schema, name, i)
  JOIN LATERAL (
    SELECT t.oid FROM pg_type t JOIN pg_namespace n ON n.oid = t.typnamespace LEFT JOIN path p ON p.schema = n.nspname
    WHERE t.typname = q.name AND (q.schema = '' AND p.at IS NOT NULL OR q.schema = n.nspname) ORDER BY p.at LIMIT 1
  ) found ON true
),
-- The types that a relation, a name or a function brings, and those that they are made of.
parts(of, i, oid) AS (
  SELECT 'r', i, reltype FROM relations UNION SELECT 't', i, oid FROM named 
  UNION SELECT 'f', f.i, t.type FROM functions f JOIN pg_proc p ON p.oid = f.oid, unnest(p.proargtypes::oid[] || p.prorettype || coalesce(p.proallargtypes, '{}')) AS t(type) WHERE p.oid >= 16384
  UNION
  SELECT p.of, p.i, made.oid FROM parts p JOIN pg_type t ON t.oid = p.oid CROSS JOIN LATERAL (
    SELECT t.typbasetype AS oid WHERE t.typbasetype <> 0 UNION ALL SELECT t.typelem WHERE t.typelem <> 0 AND t.typlen = -1
    UNION ALL SELECT a.atttypid FROM pg_attribute a WHERE t.typrelid <> 0 AND a.attrelid = t.typrelid AND a.attnum > 0 AND NOT a.attisdropped
    UNION ALL SELECT r.rngsubtype FROM pg_range r WHERE t.typtype IN ('r', 'm') AND t.oid IN (r.rngtypid, r.rngmultitypid)
  ) made
),
reached(oid) AS (
  SELECT p.oid FROM parts p WHERE p.oid >= 16384 UNION SELECT t.typarray FROM parts p JOIN pg_type t ON t.oid = p.oid WHERE p.oid >= 16384 AND t.typarray <> 0
),
-- All types that an expression of the statement may be of, and what the server makes of
-- them by itself: those above, those of its functions, operators and literals.
present(oid) AS (
  SELECT oid FROM parts UNION SELECT t.type FROM functions f JOIN pg_proc p ON p.oid = f.oid, unnest(p.proargtypes::oid[] || p.prorettype || coalesce(p.proallargtypes, '{}')) AS t(type)
  UNION SELECT oprresult FROM pg_operator WHERE oprname = ANY ($9::text[])
  UNION SELECT oid FROM pg_type WHERE typnamespace = 'pg_catalog'::regnamespace AND (typname IN ('int4', 'int8', 'numeric', 'text', 'bool', 'bit', 'record', 'name', 'date', 'time', 'timetz', 'timestamp', 'timestamptz')
    OR $11::boolean AND typname IN ('json', 'jsonb', 'xml'))
  UNION
  SELECT more.oid FROM present p CROSS JOIN LATERAL (
    SELECT k.casttarget AS oid FROM pg_cast k WHERE k.castsource = p.oid AND k.castcontext = 'i'
    UNION ALL SELECT t.typarray FROM pg_type t WHERE t.oid = p.oid AND t.typarray <> 0 UNION ALL SELECT t.typelem FROM pg_type t WHERE t.oid = p.oid AND t.typelem <> 0
  ) more
),
types AS (
  SELECT q.i, n.nspname AS schema, t.typname AS name, e.typname ~ '^reg(config|dictionary)$' AS config,
    e.typtype = 'p' AND e.typname <> 'record' OR EXISTS (SELECT FROM parts p WHERE p.of = 't' AND p.i = q.i AND p.oid = ANY ($10::oid[])) AS reserved,
    n.nspname = 'pg_catalog' OR x.extname IS NOT NULL OR e.typtype IN ('e', 'd', 'r', 'm', 'c') AS known, coalesce(x.extname, '') AS extension,
    coalesce(rn.nspname, '') AS of_schema, coalesce(r.relname, '') AS of_name, coalesce(r.relkind, ' ') AS of_kind
  FROM named q JOIN pg_type t ON t.oid = q.oid JOIN pg_namespace n ON n.oid = t.typnamespace
  JOIN pg_type e ON e.oid = CASE WHEN t.typlen = -1 AND t.typelem <> 0 THEN t.typelem ELSE t.oid END
  LEFT JOIN pg_class r ON r.oid = e.typrelid LEFT JOIN pg_namespace rn ON rn.oid = r.relnamespace
  LEFT JOIN pg_depend d ON d.classid = 'pg_type'::regclass AND d.objid = e.oid AND d.deptype = 'e' LEFT JOIN pg_extension x ON x.oid = d.refobjid AND d.refclassid = 'pg_extension'::regclass
),
-- The functions that no name shows: of operators, which may be called with literals of any
-- type, unless they compare, and neither side is of a type that is there; of casts, both of
-- whose sides are there; of the order of types; and of what domains and ranges are.
operators AS (
  SELECT o.* FROM unnest($8::text[], $9::text[]) AS q(schema, name) JOIN pg_operator o ON o.oprname = q.name JOIN pg_namespace n ON n.oid = o.oprnamespace
  WHERE n.nspname <> 'pg_catalog' AND (q.schema = '' AND n.nspname IN (SELECT schema FROM path) OR q.schema = n.nspname)
    AND NOT (o.oprname IN ('=', '<>', '<', '<=', '>=', '>') AND q.schema = '' AND o.oprleft NOT IN (SELECT oid FROM present) AND o.oprright NOT IN (SELECT oid FROM present))
),
classes AS (
  SELECT c.opcfamily, c.opcintype FROM pg_opclass c WHERE c.oid >= 16384 AND (c.opcintype IN (SELECT oid FROM reached) OR c.opcdefault AND c.opcintype IN (SELECT oid FROM present)
    OR EXISTS (SELECT FROM pg_amop p JOIN operators o ON o.oid = p.amopopr WHERE p.amopfamily = c.opcfamily)
    OR EXISTS (SELECT FROM pg_range r JOIN parts p ON p.oid IN (r.rngtypid, r.rngmultitypid) WHERE r.rngsubopc = c.oid))
),
behind(what, function, called) AS (
  SELECT 'operator ' || n.nspname || '.' || o.oprname, o.oprcode::oid, true FROM operators o JOIN pg_namespace n ON n.oid = o.oprnamespace
  UNION
  SELECT 'the cast of ' || format_type(k.castsource, NULL) || ' to ' || format_type(k.casttarget, NULL), k.castfunc, true
  FROM pg_cast k WHERE k.oid >= 16384 AND k.castfunc <> 0
    AND (k.castsource < 16384 OR k.castsource IN (SELECT oid FROM reached)) AND (k.casttarget < 16384 OR k.casttarget IN (SELECT oid FROM reached))
    AND (k.castsource >= 16384 OR k.casttarget >= 16384 OR k.castcontext <> 'e' OR k.casttarget IN (SELECT oid FROM parts WHERE of = 't'))
  UNION
  SELECT 'the order of ' || format_type(c.opcintype, NULL), f.oid, false FROM classes c CROSS JOIN LATERAL (
    SELECT p.amproc::oid AS oid FROM pg_amproc p WHERE p.amprocfamily = c.opcfamily
    UNION SELECT o.oprcode::oid FROM pg_amop p JOIN pg_operator o ON o.oid = p.amopopr WHERE p.amopfamily = c.opcfamily
  ) f
  UNION
  SELECT 'a CHECK of ' || format_type(c.contypid, NULL), f.oid, true FROM parts p JOIN pg_constraint c ON c.contypid = p.oid
  JOIN pg_depend d ON d.classid = 'pg_constraint'::regclass AND d.objid = c.oid CROSS JOIN LATERAL (
    SELECT d.refobjid AS oid WHERE d.refclassid = 'pg_proc'::regclass
    UNION SELECT o.oprcode::oid FROM pg_operator o WHERE d.refclassid = 'pg_operator'::regclass AND o.oid = d.refobjid
  ) f JOIN pg_proc g ON g.oid = f.oid WHERE p.of <> 'r' OR g.prosecdef OR g.provolatile = 'v' -- a table's own rows have passed it
  UNION
  SELECT 'the range ' || format_type(r.rngtypid, NULL), f.oid, false FROM parts p JOIN pg_range r ON p.oid IN (r.rngtypid, r.rngmultitypid), unnest(ARRAY[r.rngcanonical::oid, r.rngsubdiff::oid]) AS f(oid)
  WHERE r.rngtypid >= 16384 AND f.oid <> 0
),
hidden AS (
  SELECT b.what, f.schema, f.name, f.steady, f.native, f.extension, NOT b.called OR f.clean AS clean FROM behind b CROSS JOIN LATERAL (
    SELECT n.nspname AS schema, p.proname AS name, p.provolatile <> 'v' AS steady, l.lanname IN ('c', 'internal') AS native, coalesce(x.extname, '') AS extension,
      NOT $10::oid[] && (p.proargtypes::oid[] || p.prorettype) AS clean
    FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace JOIN pg_language l ON l.oid = p.prolang
    LEFT JOIN pg_depend d ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e' LEFT JOIN pg_extension x ON x.oid = d.refobjid AND d.refclassid = 'pg_extension'::regclass
    WHERE p.oid = b.function OFFSET 0 -- so that it is looked up, of the few that there are
  ) f
)
SELECT json_build_object(
  'plans', set_config('plan_cache_mode', 'auto', true), 'jit', set_config('jit', $12, true), -- this query is planned once, what comes after it each time
  'path', current_setting('search_path'), 'read_only', current_setting('transaction_read_only'), 'strings', current_setting('standard_conforming_strings'),
  'relations', (SELECT coalesce(json_agg(json_build_object('i', i, 'oid', oid, 'schema', schema, 'name', name, 'kind', kind, 'columns', columns, 'twins', twins, 'policies', policies,
    'reserved', EXISTS (SELECT FROM parts p WHERE p.of = 'r' AND p.i = relations.i AND p.oid = ANY ($10::oid[])))), '[]') FROM relations),
  'functions', (SELECT coalesce(json_agg(functions), '[]') FROM functions), 'types', (SELECT coalesce(json_agg(types), '[]') FROM types), 'hidden', (SELECT coalesce(json_agg(hidden), '[]') FROM hidden))::text
