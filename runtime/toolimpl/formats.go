package toolimpl

import (
	"net/mail"
	"net/netip"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/toolgen/toolgen/runtime"
)

// formats are those of JSON Schema that a reader checks.
var formats = map[string]struct {
	want string
	ok   func(string) bool
}{
	"date-time": {`a date and time like "2006-01-02T15:04:05Z"`, func(s string) bool {
		_, err := time.Parse(time.RFC3339Nano, s)
		return err == nil && strictTime([]byte(s))
	}},
	"date": {`a date like "2006-01-02"`, func(s string) bool {
		_, err := time.Parse(time.DateOnly, s)
		return err == nil
	}},
	"time": {`a time like "15:04:05Z"`, func(s string) bool {
		_, err := time.Parse("15:04:05.999999999Z07:00", s)
		return err == nil && !strings.Contains(s, ",") && len(s) > 2 && s[2] == ':' && validOffset([]byte(s))
	}},
	"email":    {"an email address", isEmail},
	"uri":      {"an absolute URI", isURI},
	"uuid":     {"a UUID", regexpMatcher(`^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$`)},
	"ipv4":     {"an IPv4 address", func(s string) bool { a, err := netip.ParseAddr(s); return err == nil && a.Is4() }},
	"ipv6":     {"an IPv6 address", func(s string) bool { a, err := netip.ParseAddr(s); return err == nil && a.Is6() && a.Zone() == "" }},
	"hostname": {"a host name", isHostname},
}

func regexpMatcher(text string) func(string) bool {
	p := &Pattern{Text: text}
	return p.match
}

func isEmail(s string) bool {
	a, err := mail.ParseAddress(s)
	if err != nil || a.Address != s {
		return false
	}
	ascii := !strings.ContainsFunc(s, func(r rune) bool { return r > '~' })
	return ascii && isHostname(s[strings.LastIndexByte(s, '@')+1:])
}

// isURI takes what RFC 3986 calls a URI: with a scheme, in ASCII.
func isURI(s string) bool {
	u, err := url.Parse(s)
	if err != nil || !u.IsAbs() {
		return false
	}
	return !strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r > '~' || strings.ContainsRune("\"<>\\^`{|}", r) })
}

// hostLabel is one label of a host name: RFC 1123.
var hostLabel = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?$`)

func isHostname(s string) bool {
	if s == "" || len(s) > 253 {
		return false
	}
	for label := range strings.SplitSeq(s, ".") {
		if !hostLabel.MatchString(label) {
			return false
		}
	}
	return true
}

// Format refuses a string that isn't of a format of JSON Schema: date-time,
// date, time, email, uri, uuid, ipv4, ipv6 or hostname.
func (r *Reader) Format(s, name string) {
	f, known := formats[name]
	if !r.skipRule() && (!known || !f.ok(s)) {
		r.problem(runtime.IssueFormat, f.want, r.got())
	}
}
