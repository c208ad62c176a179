// Package gitrepo reads a local Git repository: its log, commits, authorship
// and contents. It changes nothing and starts no process.
package gitrepo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"regexp"
	"strings"
	"time"

	"github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"
)

// The bounds of answers.
const (
	maxCommits = 200
	maxMatches = 200
	maxFile    = 1 << 20 // bytes of a file that is searched or shown
	maxPatch   = 48 << 10
)

// Errors that a caller can act on.
var (
	ErrNotFound = errors.New("not found")
	ErrArgument = errors.New("argument not accepted")
)

// Repo is a repository.
//
//toolgen:toolset prefix=git
type Repo struct {
	git *git.Repository
}

// Open opens the repository that a folder is in.
func Open(dir string) (*Repo, error) {
	r, err := git.PlainOpenWithOptions(dir, &git.PlainOpenOptions{DetectDotGit: true, EnableDotGitCommonDir: true})
	if err != nil {
		return nil, fmt.Errorf("open repository %s: %w", dir, err)
	}
	return &Repo{git: r}, nil
}

// Commit is one commit.
type Commit struct {
	Hash    string    `json:"hash"`
	Author  string    `json:"author"`
	Email   string    `json:"email"`
	Time    time.Time `json:"time"`
	Subject string    `json:"subject"`
}

// LogOptions say which commits are wanted.
type LogOptions struct {
	Revision string     `json:"revision,omitempty"` // a branch, tag or hash to begin at; HEAD if left out
	Path     string     `json:"path,omitempty"`     // only commits that touch this file or folder
	Since    *time.Time `json:"since,omitempty"`    // only commits from then on
	Limit    int        `json:"limit,omitempty"`    //toolgen:param "how many" default=20 minimum=1 maximum=200
}

// Log lists commits, the newest first.
//
// Parameters:
//   - options: which commits
//
//toolgen:expose
//toolgen:readonly
//toolgen:closedworld
//toolgen:errors retry=ErrNotFound,ErrArgument
func (r *Repo) Log(ctx context.Context, options LogOptions) ([]Commit, error) {
	limit := options.Limit
	if limit == 0 { // of a Go caller; a model's is 20 then
		limit = 20
	}
	if limit < 1 || limit > maxCommits {
		return nil, fmt.Errorf("%w: limit must be from 1 to %d", ErrArgument, maxCommits)
	}
	from, err := r.commit(options.Revision)
	if err != nil {
		return nil, err
	}
	query := &git.LogOptions{From: from.Hash, Order: git.LogOrderCommitterTime, Since: options.Since}
	if options.Path != "" {
		within := strings.TrimSuffix(path.Clean(options.Path), "/")
		query.PathFilter = func(p string) bool { return p == within || strings.HasPrefix(p, within+"/") }
	}
	commits, err := r.git.Log(query)
	if err != nil {
		return nil, err
	}
	defer commits.Close()
	var out []Commit
	for len(out) < limit {
		c, err := commits.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err = errors.Join(err, ctx.Err()); err != nil {
			return nil, err
		}
		out = append(out, describe(c))
	}
	return out, nil
}

func describe(c *object.Commit) Commit {
	subject, _, _ := strings.Cut(c.Message, "\n")
	return Commit{Hash: c.Hash.String(), Author: c.Author.Name, Email: c.Author.Email, Time: c.Author.When, Subject: subject}
}

// commit resolves a revision.
func (r *Repo) commit(revision string) (*object.Commit, error) {
	if revision == "" {
		revision = "HEAD"
	}
	hash, err := r.git.ResolveRevision(plumbing.Revision(revision))
	if err != nil {
		return nil, fmt.Errorf("%w: revision %q", ErrNotFound, revision)
	}
	c, err := r.git.CommitObject(*hash)
	if err != nil {
		return nil, fmt.Errorf("%w: revision %q is no commit", ErrNotFound, revision)
	}
	return c, nil
}

// Change is what a commit did to one file.
type Change struct {
	Path    string `json:"path"`
	Added   int    `json:"added"`   // lines
	Deleted int    `json:"deleted"` // lines
}

// Details is a commit with what it changed.
type Details struct {
	Commit
	Message   string   `json:"message"`
	Changes   []Change `json:"changes"`
	Patch     string   `json:"patch"`
	Truncated bool     `json:"truncated,omitempty"` // the patch goes on
}

// Show shows a commit: its message, the files it changed and the patch, of
// which at most 48 KiB.
//
// Parameters:
//   - revision: a branch, tag or hash
//
//toolgen:expose
//toolgen:readonly
//toolgen:closedworld
//toolgen:errors retry=ErrNotFound
func (r *Repo) Show(ctx context.Context, revision string) (*Details, error) {
	c, err := r.commit(revision)
	if err != nil {
		return nil, err
	}
	tree, err := c.Tree()
	if err != nil {
		return nil, err
	}
	before := &object.Tree{}
	if parent, err := c.Parent(0); err == nil {
		if before, err = parent.Tree(); err != nil {
			return nil, err
		}
	}
	patch, err := before.PatchContext(ctx, tree)
	if err != nil {
		return nil, err
	}
	d := &Details{Commit: describe(c), Message: c.Message, Patch: patch.String()}
	for _, s := range patch.Stats() {
		d.Changes = append(d.Changes, Change{Path: s.Name, Added: s.Addition, Deleted: s.Deletion})
	}
	if len(d.Patch) > maxPatch {
		d.Patch, d.Truncated = strings.ToValidUTF8(d.Patch[:maxPatch], ""), true
	}
	return d, nil
}

// BlamedLine is a line with the commit that it came with.
type BlamedLine struct {
	Line   int       `json:"line"`
	Hash   string    `json:"hash"`
	Author string    `json:"author"`
	Time   time.Time `json:"time"`
	Text   string    `json:"text"`
}

// Blame tells for lines of a file which commit each came with.
//
// Parameters:
//   - path: the file, from the repository's root
//   - first: the first line wanted, counting from 1
//   - last: the last line wanted, at most 200 after the first
//   - revision: a branch, tag or hash; HEAD if left out
//
//toolgen:expose
//toolgen:readonly
//toolgen:closedworld
//toolgen:errors retry=ErrNotFound,ErrArgument
func (r *Repo) Blame(_ context.Context, path string, first, last int, revision *string) ([]BlamedLine, error) {
	if first < 1 || last < first || last-first > maxMatches {
		return nil, fmt.Errorf("%w: first must be at least 1, and last at most %d after it", ErrArgument, maxMatches)
	}
	name := ""
	if revision != nil {
		name = *revision
	}
	c, err := r.commit(name)
	if err != nil {
		return nil, err
	}
	if _, err := c.File(path); err != nil {
		return nil, fmt.Errorf("%w: file %q", ErrNotFound, path)
	}
	blame, err := git.Blame(c, path)
	if err != nil {
		return nil, err
	}
	if first > len(blame.Lines) {
		return nil, fmt.Errorf("%w: the file has %d lines", ErrArgument, len(blame.Lines))
	}
	var out []BlamedLine
	for i := first - 1; i < min(last, len(blame.Lines)); i++ {
		l := blame.Lines[i]
		out = append(out, BlamedLine{Line: i + 1, Hash: l.Hash.String(), Author: l.AuthorName, Time: l.Date, Text: l.Text})
	}
	return out, nil
}

// Match is a line that matches.
type Match struct {
	Path string `json:"path"`
	Line int    `json:"line"`
	Text string `json:"text"`
}

// GrepOptions say where to search.
type GrepOptions struct {
	Revision   string `json:"revision,omitempty"`    // a branch, tag or hash; HEAD if left out
	Path       string `json:"path,omitempty"`        // only below this folder, or in this file
	IgnoreCase bool   `json:"ignore_case,omitempty"` // match small and capital letters alike
}

// Grep finds lines that match a regular expression, in files of at most 1 MiB.
// It returns at most 200 lines.
//
// Parameters:
//   - pattern: a regular expression in Go's syntax (RE2)
//   - options: where to search
//
//toolgen:expose
//toolgen:readonly
//toolgen:closedworld
//toolgen:errors retry=ErrNotFound,ErrArgument
func (r *Repo) Grep(ctx context.Context, pattern string, options GrepOptions) ([]Match, error) {
	if options.IgnoreCase {
		pattern = "(?i)" + pattern
	}
	re, err := regexp.Compile(pattern)
	if err != nil {
		return nil, fmt.Errorf("%w: pattern: %w", ErrArgument, err)
	}
	c, err := r.commit(options.Revision)
	if err != nil {
		return nil, err
	}
	files, err := c.Files()
	if err != nil {
		return nil, err
	}
	defer files.Close()
	within := strings.Trim(path.Clean("/"+options.Path), "/")
	var out []Match
	for len(out) < maxMatches {
		f, err := files.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err = errors.Join(err, ctx.Err()); err != nil {
			return nil, err
		}
		if within != "" && f.Name != within && !strings.HasPrefix(f.Name, within+"/") {
			continue
		}
		if out, err = search(f, re, out); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// search appends the matching lines of a file. Binary and large files have
// none.
func search(f *object.File, re *regexp.Regexp, out []Match) ([]Match, error) {
	if f.Size > maxFile {
		return out, nil
	}
	if binary, err := f.IsBinary(); err != nil || binary {
		return out, err
	}
	text, err := f.Contents()
	if err != nil {
		return out, err
	}
	n := 0
	for line := range strings.Lines(text) {
		n++
		if line = strings.TrimRight(line, "\r\n"); re.MatchString(line) && len(out) < maxMatches {
			out = append(out, Match{Path: f.Name, Line: n, Text: line})
		}
	}
	return out, nil
}
