package postgres

import (
	_ "embed"
	"regexp"
	"slices"
	"strings"
	"sync"
)

//go:embed functions.txt
var functionsText string

// functions are the names of the built-in functions that a statement may call: those of
// functions.txt, which is made from PostgreSQL's catalogue by the rule below, and reviewed.
var functions = sync.OnceValue(func() map[string]bool {
	all := make(map[string]bool)
	for line := range strings.Lines(functionsText) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			all[line] = true
		}
	}
	for name := range strings.FieldsSeq(newer) {
		all[name] = true
	}
	return all
})

// newer are functions of PostgreSQL 16, 17 and 18, by their release notes; the rule is for
// these too.
const newer = `any_value array_reverse array_sample array_shuffle array_sort casefold crc32 crc32c date_add date_subtract erf erfc
	gamma lgamma random_normal to_bin to_oct unicode_assigned unicode_version uuid_extract_timestamp
	uuid_extract_version uuidv4 uuidv7 xmltext`

// volatile are functions that return another value each time, and do nothing else.
var volatile = []string{"random", "gen_random_uuid", "clock_timestamp", "random_normal", "array_sample", "array_shuffle", "uuidv4", "uuidv7"}

// identity are functions that say who is logged in and where: for lists that hide nothing.
var identity = []string{
	"version", "current_database", "current_schema", "current_schemas", "current_user", "session_user", "getpgusername", "getdatabaseencoding",
	"inet_client_addr", "inet_client_port", "inet_server_addr", "inet_server_port", "pg_backend_pid",
}

// never are names of functions that are steady and take no reserved type, and that say
// what there is in the database, take SQL, or a name, as text, or are parts of others.
var never = regexp.MustCompile(`^pg_|^has_|^lo_|^txid_|_to_xml|^ts_stat$|^ts_rewrite$|^current_setting$|^format_type$|_description$|` +
	`^row_security_active$|^satisfies_hash_partition$|acl|^ts_parse$|^ts_token_type$|^ts_debug$|^oidvectortypes$|_validator$|^get_current_ts_config$|` +
	`^reg(class|proc|type|role|oper|namespace|collation|config|dictionary)|^to_reg|^mxid_age$|_(recv|in|out)$|send$|typmodin$`)

// isBuiltIn is the rule of functions.txt.
func isBuiltIn(name string, steady, clean bool) bool {
	return clean && (steady || slices.Contains(volatile, name)) && !never.MatchString(name) && !slices.Contains(identity, name)
}

// reviewed are extensions whose functions count as built in, but for those that a pattern
// names: what they say of the database, or do to it.
var reviewed = map[string]*regexp.Regexp{
	"citext": nil, "hstore": nil, "ltree": nil, "unaccent": nil, "uuid-ossp": nil,
	"pg_trgm": regexp.MustCompile(`^set_limit$|^show_limit$`),
	"postgis": regexp.MustCompile(`postgis|^find_srid$|extent$|srid$|geometry_columns?$|flatgeobuf|proj4`),
}

// lists reports whether the operator allows a function.
func (e *engine) lists(schema, name string) bool {
	return slices.ContainsFunc(e.allowed, func(a entry) bool { return a.matches(schema, name) })
}

// passes reports whether a function may be called.
func (e *engine) passes(name string, f *functionAnswer) bool {
	if e.lists(f.Schema, name) {
		return true
	}
	if f.Schema == systemSchema {
		if e.options.AllTables && slices.Contains(identity, name) {
			return true
		}
		return functions()[name] && isBuiltIn(name, f.Steady, f.Clean)
	}
	but, ok := reviewed[f.Extension]
	switch {
	case ok:
		return f.Clean && (f.Steady || f.Extension == "uuid-ossp") && (but == nil || !but.MatchString(name))
	default: // what an extension adds to a name that is allowed, in C: avg(vector)
		return f.Extension != "" && f.Native && f.Steady && f.Clean && functions()[name]
	}
}

// passesHidden reports whether a function may be called that no name shows: a cast's, an
// operator's, or one of the order of a type.
func (e *engine) passesHidden(h *hiddenAnswer) bool {
	switch {
	case e.lists(h.Schema, h.Name):
		return true
	case !h.Clean || !h.Steady:
		return false
	case h.Schema == systemSchema:
		return isBuiltIn(h.Name, h.Steady, h.Clean)
	}
	_, ok := reviewed[h.Extension]
	return ok || h.Extension != "" && h.Native
}

// anyCount is the number of a call's arguments where it isn't known.
const anyCount = -1

// callable are the functions of a name that a call can mean: those that take as many
// arguments, and of two with the same arguments only the first on the search path, if the
// call names none of them.
func callable(all []functionAnswer, f *function) []functionAnswer {
	fits := slices.DeleteFunc(slices.Clone(all), func(c functionAnswer) bool {
		return f.args != anyCount && !c.Variadic && (f.args > c.Count || f.args < c.Least)
	})
	if len(fits) > 0 { // else the server says so
		all = fits
	}
	if f.schema != "" || f.named {
		return all
	}
	return slices.DeleteFunc(slices.Clone(all), func(c functionAnswer) bool {
		return c.Schema != systemSchema && c.Plain && slices.ContainsFunc(all, func(s functionAnswer) bool {
			return s.Schema == systemSchema && s.Plain && s.Args == c.Args
		})
	})
}

// literalConfigs reports whether the names of text search configurations among the
// arguments of a call are literals, where no function that takes as many has other
// arguments there.
func literalConfigs(all []functionAnswer, f *function) bool {
	for at, literal := range f.literal {
		if literal {
			continue
		}
		takes := slices.DeleteFunc(slices.Clone(all), func(c functionAnswer) bool { return c.Count != f.args })
		if len(takes) > 0 && !slices.ContainsFunc(takes, func(c functionAnswer) bool { return !slices.Contains(c.Configs, at) }) {
			return false
		}
	}
	return true
}
