package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolgen/toolgen/gen"
)

// breaking compares the tools with those of a lock that was kept, and fails
// where who calls them has to change.
func (c *command) breaking(ctx context.Context) (int, error) {
	fatal, err := c.fatalClasses()
	if err != nil {
		return exitUsage, err
	}
	if len(c.options.Patterns) > 0 {
		return exitUsage, usagef("breaking compares all tools of a module and takes no patterns")
	}
	r, ok, err := c.result(ctx)
	if err != nil {
		return exitError, err
	}
	if !ok {
		c.report(report{diagnostics: r.Diagnostics})
		return exitError, nil
	}
	old, err := c.kept(ctx, r.LockPath())
	if err != nil {
		return exitError, err
	}
	changes, err := gen.Compare(r, old)
	if err != nil {
		return exitError, err
	}
	advice := advise(changes)
	c.report(report{surface: changes, advice: advice})
	if c.format == "text" && !c.quiet {
		fmt.Fprintln(c.stdout, advice)
	}
	if slices.ContainsFunc(changes, func(s gen.SurfaceChange) bool { return slices.Contains(fatal, s.Class) }) {
		return exitError, nil
	}
	return exitDone, nil
}

// fatalClasses are those that make the verb fail: breaking and narrowing, less
// what -allow names, and what -fail-on names.
func (c *command) fatalClasses() ([]gen.Class, error) {
	fatal := []gen.Class{gen.Breaking, gen.Narrowing}
	switch c.allow {
	case "":
	case string(gen.Narrowing):
		fatal = fatal[:1]
	default:
		return nil, usagef("-allow %s: only narrowing can be allowed", c.allow)
	}
	if c.failOn == "" {
		return fatal, nil
	}
	for word := range strings.SplitSeq(c.failOn, ",") {
		if !slices.Contains(gen.Classes, gen.Class(word)) {
			return nil, usagef("-fail-on %s: the classes are breaking, narrowing, widening, wording", word)
		}
		if word == c.allow {
			return nil, usagef("%s can't be both allowed and a failure", word)
		}
		fatal = append(fatal, gen.Class(word))
	}
	return fatal, nil
}

// advise says what the changes mean for the next version.
func advise(changes []gen.SurfaceChange) string {
	if len(changes) == 0 {
		return "no change: nothing that a model sees differs"
	}
	switch changes[0].Class { // worst first
	case gen.Breaking, gen.Narrowing:
		return "next version: major (minor before v1)"
	case gen.Widening:
		return "next version: minor"
	default:
		return "next version: patch; read the wording, models act on it"
	}
}

// kept returns the lock to compare with: a file, or the lock at a git revision.
func (c *command) kept(ctx context.Context, path string) ([]byte, error) {
	if path == "" {
		return nil, errors.New("toolgen.yaml turns the lock off: there is nothing to compare with")
	}
	file := c.within(c.against)
	if info, err := os.Stat(file); err == nil && info.Mode().IsRegular() {
		return os.ReadFile(file)
	}
	dir, name := existing(path)
	against := c.against
	if against == "" {
		base, err := git(ctx, dir, "merge-base", "HEAD", "origin/HEAD")
		if err != nil {
			return nil, fmt.Errorf("there is no merge base with origin/HEAD: say what to compare with, -against REVISION or FILE (%w)", err)
		}
		against = strings.TrimSpace(string(base))
	}
	commit, err := git(ctx, dir, "rev-parse", "--verify", "--end-of-options", against+"^{commit}")
	if err != nil {
		return nil, fmt.Errorf("-against %s is neither a file nor a revision of this repository (%w)", against, err)
	}
	data, err := git(ctx, dir, "show", strings.TrimSpace(string(commit))+":./"+name)
	if err != nil { // as in the change that brings the first tools
		c.clear()
		fmt.Fprintf(c.stderr, "toolgen: there is no %s at %s: all tools are new\n", name, against)
		return gen.NoLock, nil //nolint:nilerr // see above
	}
	return data, nil
}

// existing splits a path where its folders end that are there.
func existing(path string) (dir, rest string) {
	dir, rest = filepath.Split(path)
	for {
		if info, err := os.Stat(dir); err == nil && info.IsDir() || dir == filepath.Dir(dir) {
			return dir, filepath.ToSlash(rest)
		}
		dir = filepath.Clean(dir)
		rest = filepath.Join(filepath.Base(dir), rest)
		dir = filepath.Dir(dir)
	}
}

// git runs git in a folder. What a hook of git's sets for its own repository is
// not for this one.
func git(ctx context.Context, dir string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "git", args...) //nolint:gosec // revisions are given after --end-of-options
	cmd.Dir = dir
	cmd.Env = slices.DeleteFunc(os.Environ(), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return slices.Contains(repositoryVars, name)
	})
	out, err := cmd.Output()
	if failed, ok := errors.AsType[*exec.ExitError](err); ok {
		said, _, _ := strings.Cut(strings.TrimSpace(string(failed.Stderr)), "\n")
		if said == "" {
			said = "it found none"
		}
		return nil, fmt.Errorf("git %s: %s", args[0], strings.TrimPrefix(said, "fatal: "))
	}
	if err != nil {
		return nil, fmt.Errorf("git can't be run: %w", err)
	}
	return out, nil
}

// repositoryVars are what git's hooks run with.
var repositoryVars = []string{
	"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_COMMON_DIR", "GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_NAMESPACE",
}
