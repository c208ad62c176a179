package lint

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// Forms of secrets that are secrets wherever they stand.
var forms = regexp.MustCompile(strings.Join([]string{
	`\bAKIA[0-9A-Z]{16}\b`,                          // AWS
	`-----BEGIN [A-Z ]*PRIVATE KEY`,                 // PEM
	`\bgh[opsur]_[A-Za-z0-9]{20,}`,                  // GitHub
	`\bgithub_pat_[A-Za-z0-9_]{20,}`,                // GitHub
	`\bglpat-[A-Za-z0-9_-]{16,}`,                    // GitLab
	`\bnpm_[A-Za-z0-9]{30,}`,                        // npm
	`\bxox[abprs]-[A-Za-z0-9-]{10,}`,                // Slack
	`hooks\.slack\.com/services/T[A-Z0-9]+/`,        // Slack
	`\bsk-[A-Za-z0-9_-]{20,}`,                       // OpenAI, Anthropic
	`\b[rs]k_live_[A-Za-z0-9]{16,}`,                 // Stripe
	`\bAIza[A-Za-z0-9_-]{35}`,                       // Google
	`\beyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}\.`, // JSON Web Token
	`AccountKey=[A-Za-z0-9+/]{40,}=*`,               // Azure
}, "|"))

// named are values behind a name that says what they are, and passwords in
// addresses.
var (
	named    = regexp.MustCompile(`(?i)\b(?:password|passwd|secret|api[_-]?key|access[_-]?key|auth[_-]?token|bearer)(?:\s*[:=]\s*|\s+)["']?([^\s"'<>{}$,;)]{8,})`)
	password = regexp.MustCompile(`[a-z]://[^\s/:@]+:([^\s/@]+)@`)
)

// marks are parts of what the patterns find, in lower case: schemas are long, and
// most have none.
var marks = []string{
	"akia", "-----begin", "ghp_", "gho_", "ghs_", "ghu_", "ghr_", "github_pat_", "glpat-", "npm_", "xoxa-", "xoxb-", "xoxp-", "xoxr-", "xoxs-", "hooks.slack.com", "sk-",
	"k_live_", "aiza", "eyj", "accountkey=", "://", "password", "passwd", "secret", "apikey", "api_key", "api-key", "accesskey", "access_key", "access-key",
	"authtoken", "auth_token", "auth-token", "bearer",
}

// hasSecret reports what looks like a secret, in any line of a text.
func hasSecret(text string) bool {
	for line := range strings.SplitSeq(text, "\n") {
		lower := strings.ToLower(line)
		if slices.ContainsFunc(marks, func(mark string) bool { return strings.Contains(lower, mark) }) && secretIn(line) {
			return true
		}
	}
	return false
}

// secretIn looks at one line. A value behind a name must have letters and digits; a
// placeholder is none.
func secretIn(text string) bool {
	for _, m := range forms.FindAllString(text, -1) {
		if !strings.HasSuffix(m, "EXAMPLE") && strings.ContainsFunc(m, isDigit) || strings.HasPrefix(m, "-----") {
			return true
		}
	}
	for _, m := range named.FindAllStringSubmatch(text, -1) {
		if strings.ContainsFunc(m[1], isDigit) && strings.ContainsFunc(m[1], unicode.IsLetter) {
			return true
		}
	}
	for _, m := range password.FindAllStringSubmatch(text, -1) {
		if strings.ContainsFunc(m[1], isDigit) && !strings.ContainsAny(m[1], "<>{}$*") {
			return true
		}
	}
	return false
}

func isDigit(r rune) bool { return r >= '0' && r <= '9' }
