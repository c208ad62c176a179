package connection

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/toolgen/toolgen/runtime/secret"
)

// Parse reads a connection in either form that Airflow has, as Airflow's tasks read it
// (its Task SDK 1.3.2): JSON, if it begins with a brace, else a URI. Errors don't repeat
// what they were given.
//
// JSON is an object of conn_type, description, host, login, password, schema, port (a
// number, or digits in a string) and extra (an object, or one in a string); others are
// an error.
//
// A URI is type://login:password@host:port/schema?name=value. Types are in lower case,
// with _ for -, and postgresql is postgres. All parts are percent-decoded. The host is
// in lower case unless it has a slash in it, and may have a scheme of its own, as in
// http://https://api.example. Of a name that is there twice, the last value counts;
// __extra__ is the whole extra as JSON.
//
// Where Airflow reads nonsense into what it can't parse, this is stricter, or reads what
// was meant: a text without :// and an extra that is no object are errors; a type may
// have _ in it; and :// in a path or a query is no scheme of the host.
func Parse(id, text string) (*Connection, error) {
	text = strings.TrimSpace(text)
	parse := parseURI
	if strings.HasPrefix(text, "{") {
		parse = parseJSON
	}
	c, err := parse(text)
	if err != nil {
		return nil, fmt.Errorf("connection %s: %w", id, err)
	}
	c.ID = id
	return c, nil
}

func parseJSON(text string) (*Connection, error) {
	fields, err := object([]byte(text))
	if err != nil {
		return nil, err
	}
	return FromFields(fields)
}

// object reads a JSON object into its members, which it has once each.
func object(raw []byte) (map[string]any, error) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	fields := make(map[string]any)
	if token, err := dec.Token(); err != nil || token != json.Delim('{') {
		return nil, errors.New("want a JSON object")
	}
	for dec.More() {
		token, err := dec.Token()
		if err != nil {
			return nil, notJSON(dec)
		}
		key, _ := token.(string)
		var value any
		if err := dec.Decode(&value); err != nil {
			return nil, notJSON(dec)
		}
		if _, twice := fields[key]; twice {
			return nil, fmt.Errorf("JSON: %s is there twice", shownKey(key))
		}
		fields[key] = value
	}
	if _, err := dec.Token(); err != nil {
		return nil, notJSON(dec)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("JSON: want nothing behind the object")
	}
	return fields, nil
}

func notJSON(dec *json.Decoder) error {
	return fmt.Errorf("what begins with a brace is not JSON from byte %d on", dec.InputOffset())
}

// FromFields makes a connection of the members of its JSON form, decoded as package json
// does, numbers as [json.Number]. It is for resolvers whose stores keep them one by one.
func FromFields(fields map[string]any) (*Connection, error) {
	c := &Connection{}
	password := ""
	texts := map[string]*string{
		"conn_type": &c.Type, "description": &c.Description, "host": &c.Host, "login": &c.Login,
		"password": &password, "schema": &c.Schema,
	}
	for name, value := range fields {
		var err error
		switch to := texts[name]; {
		case value == nil && (to != nil || name == "port" || name == "extra"):
		case to != nil:
			text, ok := value.(string)
			if *to = text; !ok {
				err = errors.New("want a string")
			}
		case name == "port":
			c.Port, err = port(value)
		case name == "extra":
			c.Extra, err = extra(value)
		default:
			err = errors.New("no such field; there are conn_type, description, host, login, password, schema, port and extra")
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", shownKey(name), err)
		}
	}
	c.Type, c.Password = typeOf(c.Type), secret.New(password)
	return c, nil
}

// shownKey is a key as an error shows it: what looks like none may be a value at the wrong
// place.
func shownKey(key string) string {
	const longest = 40
	if len(key) <= longest && !strings.ContainsFunc(key, func(r rune) bool {
		return r != '_' && r != '-' && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9')
	}) {
		return key
	}
	return "a name"
}

// typeOf is how a type is written.
func typeOf(t string) string {
	t = strings.ReplaceAll(strings.ToLower(t), "-", "_")
	if t == "postgresql" {
		return "postgres"
	}
	return t
}

// maxPort is the largest number that a port has.
const maxPort = 1<<16 - 1

func port(v any) (int, error) {
	var text string
	switch v := v.(type) {
	case json.Number:
		text = v.String()
	case string:
		text = v
	default:
		return 0, errors.New("want a number, or digits")
	}
	if text == "" {
		return 0, nil
	}
	n, err := strconv.ParseUint(text, 10, 16)
	if err != nil {
		return 0, fmt.Errorf("want a number from 0 to %d", maxPort)
	}
	return int(n), nil
}

// extra reads an object, or one in a string.
func extra(v any) (map[string]any, error) {
	switch v := v.(type) {
	case map[string]any:
		return v, nil
	case string:
		if v = strings.TrimSpace(v); v == "" || v == "null" {
			return nil, nil //nolint:nilnil // none
		}
		return object([]byte(v))
	default:
		return nil, errors.New("want a JSON object, or one in a string")
	}
}

func parseURI(text string) (*Connection, error) {
	if strings.Count(text, "://") > 2 {
		return nil, errors.New("a URI with :// more than twice: percent-encode those of its parts")
	}
	scheme, rest, ok := strings.Cut(text, "://")
	if !ok || scheme == "" || strings.ContainsAny(scheme, "/?#:@") {
		return nil, errors.New("want JSON, or a URI that begins with its type and ://")
	}
	rest, _, _ = strings.Cut(rest, "#")
	rest, query, _ := strings.Cut(rest, "?")
	authority, path := rest, ""
	inner := ""
	if before, after, nested := strings.Cut(rest, "://"); nested && !strings.Contains(before, "/") {
		if strings.ContainsAny(before, "@:") {
			return nil, errors.New("a URI with a login before the scheme of its host: write type://scheme://login:password@host")
		}
		inner, authority = strings.ToLower(before), after
	}
	if at := strings.IndexByte(authority, '/'); at >= 0 {
		authority, path = authority[:at], authority[at+1:]
	}
	c := &Connection{Type: typeOf(scheme), Schema: unquote(path)}
	if err := c.setAuthority(authority); err != nil {
		return nil, err
	}
	if inner != "" && c.Host != "" {
		c.Host = inner + "://" + c.Host
	}
	return c, c.setQuery(query)
}

// setAuthority reads login:password@host:port.
func (c *Connection) setAuthority(authority string) error {
	host := authority
	if at := strings.LastIndexByte(authority, '@'); at >= 0 {
		login, password, _ := strings.Cut(authority[:at], ":")
		c.Login, c.Password, host = unquote(login), secret.New(unquote(password)), authority[at+1:]
	}
	var digits string
	if strings.ContainsAny(host, "[]") {
		inside, after, ok := strings.Cut(strings.TrimPrefix(host, "["), "]")
		if !strings.HasPrefix(host, "[") || !ok || after != "" && !strings.HasPrefix(after, ":") {
			return errors.New("a host in brackets, which aren't a pair")
		}
		host, digits = inside, strings.TrimPrefix(after, ":")
	} else {
		host, digits, _ = strings.Cut(host, ":")
	}
	c.Host = unquote(host)
	if !strings.Contains(c.Host, "/") { // what is behind the first percent sign keeps its case
		plain, encoded, escaped := strings.Cut(host, "%")
		if c.Host = strings.ToLower(plain); escaped {
			c.Host = unquote(c.Host + "%" + encoded)
		}
	}
	n, err := port(digits)
	c.Port = n
	if err != nil {
		return fmt.Errorf("port: %w", err)
	}
	return nil
}

// setQuery reads name=value pairs.
func (c *Connection) setQuery(query string) error {
	if query == "" {
		return nil
	}
	c.Extra = make(map[string]any)
	for pair := range strings.SplitSeq(query, "&") {
		if pair == "" {
			continue
		}
		name, value, _ := strings.Cut(pair, "=")
		c.Extra[unquotePlus(name)] = unquotePlus(value)
	}
	whole, ok := c.Extra["__extra__"].(string)
	if !ok {
		return nil
	}
	var err error
	if c.Extra, err = extra(whole); err != nil {
		return fmt.Errorf("__extra__: %w", err)
	}
	return nil
}

// unquote undoes percent signs; what is none stays, and bytes that are no UTF-8 become
// the replacement character.
func unquote(s string) string {
	if !strings.Contains(s, "%") {
		return s
	}
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] == '%' && i+2 < len(s) {
			if n, err := strconv.ParseUint(s[i+1:i+3], 16, 8); err == nil {
				out = append(out, byte(n))
				i += 2
				continue
			}
		}
		out = append(out, s[i])
	}
	return strings.ToValidUTF8(string(out), string(utf8.RuneError))
}

// unquotePlus is unquote where a plus is a space.
func unquotePlus(s string) string { return unquote(strings.ReplaceAll(s, "+", " ")) }
