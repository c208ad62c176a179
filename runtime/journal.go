package runtime

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/toolgen/toolgen/runtime/schema"
)

// A JournalStore keeps what runs have done, so that a run which is begun again after
// a crash goes on where it was. It is safe for concurrent use, by many processes.
type JournalStore interface {
	// Get returns a record, and false where there is none.
	Get(ctx context.Context, run, key string) ([]byte, bool, error)

	// Put keeps a record unless there is one, and reports whether it did. Once it
	// returns, the record outlives a crash of the machine.
	Put(ctx context.Context, run, key string, record []byte) (bool, error)

	// List returns the keys of a run.
	List(ctx context.Context, run string) ([]string, error)

	// Delete forgets a run.
	Delete(ctx context.Context, run string) error

	// Lease gives a run to an owner for a time, or gives it back with d 0. While it
	// is somebody else's the error is a [RunHeldError].
	Lease(ctx context.Context, run, owner string, d time.Duration) error
}

// A RunHeldError says that a run goes on elsewhere.
type RunHeldError struct {
	Run   string
	Owner string
}

// Error names the owner.
func (e *RunHeldError) Error() string {
	return "run " + e.Run + " is held by " + e.Owner + ": end that process, or wait until its lease runs out"
}

// How long a run is one process's without a sign of life, how often it gives one,
// and how large a record may be.
const (
	leaseFor   = 30 * time.Second
	leaseEvery = 10 * time.Second
	maxRecord  = 16 << 20
)

// Journal keeps what the run does in a store, and, if there are records of a run of
// that name, replays them: a call that was made before, with the same arguments, the
// same schemas and the same version of the code, has the outcome that it had, and
// nobody is asked to approve it again. A call of which nobody knows whether it ran is
// made again where that is safe, because the tool is read-only or idempotent; any
// other waits for a person with the reason unknown_outcome: a deploy must not refund
// twice.
//
// CodeVersion names the version of the program. Empty, it is that of the main module
// with its revision; a build of modified sources has none, and must be given one.
// [Run.Finish] deletes the records.
func Journal(store JournalStore, run, codeVersion string) Option {
	return func(o *options) { o.journal, o.id, o.codeVersion = store, run, codeVersion }
}

// buildVersion names the program by what the go command recorded.
func buildVersion() (string, error) {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "", errors.New("journal: the program knows no version of its own: give CodeVersion")
	}
	version, modified := info.Main.Version, false
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			version += " " + s.Value
		case "vcs.modified":
			modified = s.Value == "true"
		}
	}
	if modified || version == "" || version == "(devel)" {
		return "", errors.New("journal: the program was built of sources without a version: give CodeVersion")
	}
	return version, nil
}

// journal is a run's use of a store.
type journal struct {
	store   JournalStore
	run     string
	owner   string
	version string
	stop    context.CancelFunc
	stopped chan struct{}

	mu       sync.Mutex
	known    map[string]bool // keys that there were at the start
	diverged int             // the first step with a call that isn't known; 0: none
}

// openJournal takes the lease of a run and lists what is known of it.
func openJournal(ctx context.Context, o *options, lost func(error)) (*journal, error) {
	version := o.codeVersion
	if version == "" {
		var err error
		if version, err = buildVersion(); err != nil {
			return nil, err
		}
	}
	j := &journal{store: o.journal, run: o.id, owner: holderName(), version: version, known: make(map[string]bool), stopped: make(chan struct{})}
	if err := j.store.Lease(ctx, j.run, j.owner, leaseFor); err != nil {
		return nil, fmt.Errorf("journal: %w", err)
	}
	keys, err := j.store.List(ctx, j.run)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("journal: %w", err), j.store.Lease(ctx, j.run, j.owner, 0))
	}
	for _, key := range keys {
		j.known[key] = true
	}
	background, stop := context.WithCancel(context.WithoutCancel(ctx))
	j.stop = stop
	go j.renew(background, lost)
	return j, nil
}

// renew gives signs of life until it is stopped, or the run is somebody else's.
func (j *journal) renew(ctx context.Context, lost func(error)) {
	defer close(j.stopped)
	ticker := time.NewTicker(leaseEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		if err := j.store.Lease(ctx, j.run, j.owner, leaseFor); err != nil && ctx.Err() == nil {
			lost(fmt.Errorf("journal: the lease is lost: %w", err))
			return
		}
	}
}

// close gives the run back, in a time of its own: that of the run may be over. What
// is to be done at last is done before.
//
//nolint:contextcheck,nolintlint // see above; that linter reports callers, of which the other knows nothing
func (j *journal) close(last func() error) error {
	j.stop()
	<-j.stopped
	var err error
	if last != nil {
		err = last()
	}
	ctx, cancel := context.WithTimeout(context.Background(), closeWithin)
	defer cancel()
	return errors.Join(err, j.store.Lease(ctx, j.run, j.owner, 0))
}

// callRecord is the beginning of the keys of a call: which tool, which arguments, the
// how-manieth of its kind.
func (b *batch) callRecord(i int) string {
	return idempotencyKey("", b.outcomes[i].Name, b.canonical(i), b.ordinals[i])
}

// version is the end of the keys that are good for these schemas and this program.
func (j *journal) versionOf(def *Definition) string {
	sum := sha256.Sum256([]byte(def.SchemaHash + "\x00" + j.version))
	return hex.EncodeToString(sum[:8])
}

// A knowledge is what the journal has of a call.
type knowledge uint8

const (
	nothing knowledge = iota
	begun             // it may have run
	done              // there is an outcome
)

// look says what there is of a call, and notes the first step with one that isn't
// known: what was done after it in the former run was done in another world.
func (j *journal) look(call, version string, step int) knowledge {
	j.mu.Lock()
	defer j.mu.Unlock()
	anything := false
	for key := range j.known {
		anything = anything || strings.HasPrefix(key, call+".started") || strings.HasPrefix(key, call+".done.")
	}
	later := j.diverged != 0 && step > j.diverged
	switch {
	case j.known[call+".done."+version] && !later:
		return done
	case anything:
		return begun
	}
	if j.diverged == 0 && len(j.known) > 0 {
		j.diverged = step
	}
	return nothing
}

func (j *journal) put(ctx context.Context, key string, v any) (bool, error) {
	record, err := json.Marshal(v)
	if err != nil {
		return false, fmt.Errorf("journal: %w", err)
	}
	if len(record) > maxRecord {
		return false, fmt.Errorf("journal: a record of %d bytes, the limit is %d", len(record), maxRecord)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), leaseFor) // then the run is somebody else's
	defer cancel()
	kept, err := j.store.Put(ctx, j.run, key, record)
	if err != nil {
		return false, fmt.Errorf("journal: %w", err)
	}
	return kept, nil
}

func (j *journal) get(ctx context.Context, key string, v any) (bool, error) {
	record, ok, err := j.store.Get(ctx, j.run, key)
	if err != nil || !ok {
		return false, err
	}
	return true, json.Unmarshal(record, v)
}

// recall looks a call up before it is made. It reports true when that is its
// outcome: what it was before, or that nobody knows.
func (b *batch) recall(ctx context.Context, i int) (bool, error) {
	j, o, def := b.run.journal, &b.outcomes[i], b.entries[i].def
	call := b.callRecord(i)
	switch j.look(call, j.versionOf(def), b.step) {
	case nothing:
		return false, b.recallApproval(ctx, i, call)
	case begun:
		if def.Hints.safeToRepeat() || b.again[i] {
			return false, nil
		}
		return true, errUnknownOutcome()
	}
	var was Outcome
	ok, err := j.get(ctx, call+".done."+j.versionOf(def), &was)
	if err != nil || !ok {
		return false, errors.Join(err, fmt.Errorf("journal: the outcome of call %s can't be read", o.ID))
	}
	was.Call, was.Replayed = o.Call, true
	if was.Kind != OK {
		was.Err = errors.New(was.Message)
	}
	*o = was
	return true, nil
}

func errUnknownOutcome() error {
	return &PendingError{Kind: PendingUnknown, Reason: "it is not known whether this call ran before: find out, then let it run again, bring its result, or fail it"}
}

// recallApproval takes the decision that somebody made about the call before.
func (b *batch) recallApproval(ctx context.Context, i int, call string) error {
	j := b.run.journal
	j.mu.Lock()
	known := j.known[call+".approved"]
	j.mu.Unlock()
	if !known || b.decision(i) != nil {
		return nil
	}
	var d Decision
	ok, err := j.get(ctx, call+".approved", &d)
	if err != nil || !ok || d.Verdict != Approve || d.SchemaSHA256 != b.entries[i].def.SchemaHash {
		return err
	}
	return b.decide(ctx, i, &d)
}

// approvedAgain begins what follows the record of a call in the key of a decision
// that it runs though it may have run.
const approvedAgain = ".approved_again"

// count counts the keys with a beginning.
func (j *journal) count(prefix string) int {
	j.mu.Lock()
	defer j.mu.Unlock()
	n := 0
	for key := range j.known {
		if strings.HasPrefix(key, prefix) {
			n++
		}
	}
	return n
}

// remember keeps a decision. The same one again, after a crash, is no other: what
// ran is in the journal. That a call is to run again though it may have run works
// once. It reports whether the decision is new: nothing has been done because of it.
func (b *batch) remember(ctx context.Context, i int, d *Decision, p *PendingCall) (first bool, err error) {
	j, o := b.run.journal, &b.outcomes[i]
	if j == nil {
		return false, nil
	}
	call := b.callRecord(i)
	key := call + ".approved"
	if p.Kind == PendingUnknown {
		key = call + approvedAgain + strconv.Itoa(p.Again)
	}
	if masked := b.masker.shown(d.Args); string(masked) != string(d.Args) {
		return false, fmt.Errorf("the decision about call %s has a secret in its arguments: a journal can't keep that", o.ID)
	}
	kept := *d
	kept.Message, kept.By = b.masker.Mask(d.Message), b.masker.Mask(d.By)
	if d.Result != nil { // it is in the outcome, masked
		kept.Result = nil
	}
	first, err = j.put(ctx, key, &kept)
	if err != nil || first {
		return first, err
	}
	var was Decision
	if _, err := j.get(ctx, key, &was); err != nil {
		return false, err
	}
	if p.Kind == PendingUnknown || was.Verdict != d.Verdict || string(was.Args) != string(d.Args) || was.Message != kept.Message {
		return false, &StaleApprovalError{CallID: o.ID, Why: "the call was decided before"}
	}
	return false, nil
}

// begin notes that a call is about to be made, unless it changes nothing. A note that
// came from elsewhere since the run was opened, of a process that was believed dead or
// whose last words were late, is as good as one that was there before.
func (b *batch) begin(ctx context.Context, i int) error {
	o, def := &b.outcomes[i], b.entries[i].def
	if b.run.journal == nil || def.Hints.ReadOnly == Yes {
		return nil
	}
	kept, err := b.run.journal.put(ctx, b.callRecord(i)+".started", map[string]any{
		"call_id": o.ID, "tool": o.Name, "schema_sha256": def.SchemaHash, "code_version": b.run.journal.version, "step": b.step,
	})
	if err == nil && !kept && !def.Hints.safeToRepeat() && !b.again[i] {
		return errUnknownOutcome()
	}
	return err
}

// record keeps an outcome that a call has had.
func (b *batch) record(ctx context.Context, i int) error {
	o := &b.outcomes[i]
	if b.run.journal == nil || o.Kind != OK && o.Kind != Retry && o.Kind != Failed {
		return nil
	}
	j, kept := b.run.journal, *o
	kept.Args = nil // they are in the key, as a hash; here they could hold a secret
	_, err := j.put(ctx, b.callRecord(i)+".done."+j.versionOf(b.entries[i].def), &kept)
	return err
}

// canonical is the call's arguments, as the journal compares them: those of the
// model, whatever a person made of them.
func (b *batch) canonical(i int) json.RawMessage {
	args := b.asked[i]
	if c, err := schema.Canonical(args); err == nil {
		return c
	}
	return args
}

// Finish says that the agent run has come to its end, closes it, and deletes its
// journal while nobody else can take it. A run that is only closed can be begun again;
// of one that was closed before, Finish deletes nothing, which is an error.
func (r *Run) Finish(ctx context.Context) error {
	deleted := r.journal == nil
	err := r.shut(func() error {
		deleted = true
		return r.journal.store.Delete(ctx, r.journal.run)
	})
	if !deleted {
		err = errors.Join(err, errors.New("finish: the run was closed before, and its journal is kept"))
	}
	return err
}
