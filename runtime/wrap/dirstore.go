package wrap

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/toolgen/toolgen/runtime"
)

// DirStore keeps journals in a folder: one folder a run, one file a record, readable
// by its owner alone. A record is there once it is on the disk: written beside its
// place, synced, linked, and the folder synced. The folder is made at the first use;
// it must be on a file system that has hard links, and of one machine.
func DirStore(dir string) runtime.JournalStore { return &dirStore{dir: dir} }

type dirStore struct {
	dir  string
	mu   sync.Mutex
	held map[string]*heldRun // by run
}

// folder is that of a run, whatever the run is called.
func (s *dirStore) folder(run string) string {
	sum := sha256.Sum256([]byte(run))
	return filepath.Join(s.dir, hex.EncodeToString(sum[:16]))
}

// record is the suffix of files that hold one.
const record = ".json"

func (s *dirStore) file(run, key string) (string, error) {
	if key == "" || strings.ContainsFunc(key, func(r rune) bool {
		return r != '.' && r != '_' && (r < '0' || r > '9') && (r < 'a' || r > 'z')
	}) {
		return "", fmt.Errorf("%q is no key of a record", key)
	}
	return filepath.Join(s.folder(run), key+record), nil
}

// Get implements [runtime.JournalStore].
func (s *dirStore) Get(_ context.Context, run, key string) ([]byte, bool, error) {
	path, err := s.file(run, key)
	if err != nil {
		return nil, false, err
	}
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil
	}
	return data, err == nil, err
}

// Put implements [runtime.JournalStore].
func (s *dirStore) Put(ctx context.Context, run, key string, data []byte) (kept bool, err error) {
	path, err := s.file(run, key)
	if err != nil {
		return false, err
	}
	if err := ctx.Err(); err != nil {
		return false, err
	}
	temp, err := s.write(run, data)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, os.Remove(temp)) }()
	if err := os.Link(temp, path); errors.Is(err, fs.ErrExist) {
		return false, nil
	} else if err != nil {
		return false, err
	}
	return true, syncDir(s.folder(run))
}

// write writes a file beside its place, to the disk.
func (s *dirStore) write(run string, data []byte) (name string, err error) {
	if err := os.MkdirAll(s.folder(run), 0o700); err != nil {
		return "", err
	}
	f, err := os.CreateTemp(s.folder(run), ".new-*") // with mode 0600
	if err != nil {
		return "", err
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return "", errors.Join(err, os.Remove(f.Name()))
	}
	return f.Name(), nil
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// List implements [runtime.JournalStore].
func (s *dirStore) List(_ context.Context, run string) ([]string, error) {
	entries, err := os.ReadDir(s.folder(run))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var keys []string
	for _, e := range entries {
		if key, ok := strings.CutSuffix(e.Name(), record); ok && !strings.HasPrefix(key, ".") {
			keys = append(keys, key)
		}
	}
	return keys, err
}

// Delete implements [runtime.JournalStore].
func (s *dirStore) Delete(_ context.Context, run string) error { return os.RemoveAll(s.folder(run)) }

// Lease implements [runtime.JournalStore]. The owner of a run holds a lock of the
// operating system's, which ends with its process: nobody has to wait for a lease of
// the dead to run out.
func (s *dirStore) Lease(_ context.Context, run, owner string, d time.Duration) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	mine := s.held[run]
	switch {
	case mine != nil && mine.owner != owner:
		return &runtime.RunHeldError{Run: run, Owner: mine.owner}
	case mine != nil && d > 0:
		return nil
	case mine != nil:
		delete(s.held, run)
		return errors.Join(unlockFile(mine.file), mine.file.Close())
	case d == 0:
		return nil
	}
	f, err := s.lock(run, owner)
	if err != nil {
		return err
	}
	if s.held == nil {
		s.held = make(map[string]*heldRun)
	}
	s.held[run] = &heldRun{owner, f}
	return nil
}

// heldRun is a run whose lock this process holds.
type heldRun struct {
	owner string
	file  *os.File
}

// lock takes the lock of a run and writes down whose it is.
func (s *dirStore) lock(run, owner string) (*os.File, error) {
	if err := os.MkdirAll(s.folder(run), 0o700); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(filepath.Join(s.folder(run), ".lease"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	free, err := lockFile(f)
	if err == nil && free && !stillThere(f) {
		return s.lockAgain(run, owner, f)
	}
	if err == nil && !free {
		other, readErr := io.ReadAll(io.LimitReader(f, 1<<10))
		err = errors.Join(readErr, &runtime.RunHeldError{Run: run, Owner: string(other)})
	}
	if err == nil {
		err = f.Truncate(0)
	}
	if err == nil {
		_, err = f.WriteAt([]byte(owner), 0)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// stillThere reports whether a run's lock is the file that was locked: who deleted the
// run has deleted it.
func stillThere(f *os.File) bool {
	locked, err := f.Stat()
	if err != nil {
		return false
	}
	now, err := os.Stat(f.Name())
	return err == nil && os.SameFile(locked, now)
}

func (s *dirStore) lockAgain(run, owner string, f *os.File) (*os.File, error) {
	if err := f.Close(); err != nil {
		return nil, err
	}
	return s.lock(run, owner)
}
