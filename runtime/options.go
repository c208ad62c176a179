package runtime

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"time"
)

// DefaultTimeout is the deadline of a call unless the run or the tool's
// definition sets another.
const DefaultTimeout = 60 * time.Second

// The budgets of a run unless an option sets others.
const (
	DefaultRetries    = 3       // corrections in a row, of a tool
	DefaultMaxCalls   = 200     // in a run
	DefaultMaxBatch   = 128     // in a batch
	DefaultMaxResults = 8 << 20 // bytes of all results of a run
)

// An Option sets how a run behaves.
type Option func(*options)

type options struct {
	id            string
	timeout       time.Duration
	maxResult     int
	errorsEndCall bool

	noBudgets  bool
	maxCalls   int
	maxBatch   int
	maxResults int
	maxCallsOf map[string]int
	maxElapsed time.Duration
	retries    int
	retriesOf  map[string]int
	exhausted  Exhaustion

	approver   ApproveFunc
	approveFor time.Duration
	stateKey   []byte

	journal     JournalStore
	codeVersion string
}

func newOptions(opts []Option) (options, error) {
	o := options{
		timeout: DefaultTimeout, maxResult: DefaultMaxResult,
		maxCalls: DefaultMaxCalls, maxBatch: DefaultMaxBatch, maxResults: DefaultMaxResults, retries: DefaultRetries,
	}
	for _, opt := range opts {
		opt(&o)
	}
	if o.journal != nil && o.id == "" {
		return o, errors.New("run: a journal needs the name of the run, by which it is found again")
	}
	if o.id == "" {
		random := make([]byte, 16)
		_, _ = rand.Read(random) // never fails, says crypto/rand
		o.id = hex.EncodeToString(random)
	}
	return o, o.check()
}

func (o *options) check() error {
	switch {
	case o.timeout <= 0:
		return fmt.Errorf("run: timeout %s is not positive", o.timeout)
	case o.maxResult < leastResult:
		return fmt.Errorf("run: a result of at most %d bytes leaves no room for a mark of truncation: give it %d", o.maxResult, leastResult)
	case o.maxCalls < 1, o.maxBatch < 1, o.maxResults < 1:
		return errors.New("run: a budget is less than 1: leave the option out, or say NoBudgets")
	case o.maxElapsed < 0:
		return fmt.Errorf("run: MaxElapsed %s is negative", o.maxElapsed)
	case o.retries < 0:
		return fmt.Errorf("run: Retries %d is negative", o.retries)
	case o.stateKey != nil && len(o.stateKey) < leastKey:
		return fmt.Errorf("run: StateKey has %d bytes: give it %d random ones", len(o.stateKey), leastKey)
	}
	for tool, n := range o.retriesOf {
		if n < 0 {
			return fmt.Errorf("run: RetriesOf %s: %d is negative", tool, n)
		}
	}
	for tool, n := range o.maxCallsOf {
		if n < 1 {
			return fmt.Errorf("run: MaxCallsOf %s: %d is less than 1: filter the tool out instead", tool, n)
		}
	}
	return nil
}

// ID names the run, in logs, states and journals. The default is random.
func ID(id string) Option { return func(o *options) { o.id = id } }

// Timeout sets the deadline of calls whose definition has none. The default is
// [DefaultTimeout]; d must be positive.
func Timeout(d time.Duration) Option { return func(o *options) { o.timeout = d } }

// MaxResult sets the bound of results, in bytes of text and structured part,
// of tools whose definition has none. The default is [DefaultMaxResult]; n
// must be at least 1024, so that a mark of truncation fits.
func MaxResult(n int) Option { return func(o *options) { o.maxResult = n } }

// ErrorsEndCall makes an error that would end the run end its call only, and a
// call that waits hold nobody up. It is for servers, whose client owns the agent
// run.
func ErrorsEndCall() Option { return func(o *options) { o.errorsEndCall = true } }

// NoBudgets turns all budgets off, those of corrections too. It is for servers,
// whose client owns the agent run.
func NoBudgets() Option { return func(o *options) { o.noBudgets = true } }

// MaxCalls sets how many calls may run. The default is [DefaultMaxCalls].
func MaxCalls(n int) Option { return func(o *options) { o.maxCalls = n } }

// MaxBatch sets how many calls a batch may have. The default is
// [DefaultMaxBatch].
func MaxBatch(n int) Option { return func(o *options) { o.maxBatch = n } }

// MaxCallsOf sets how many calls of one tool may run. The default is no limit of
// its own.
func MaxCallsOf(tool string, n int) Option {
	return func(o *options) { o.maxCallsOf = with(o.maxCallsOf, tool, n) }
}

// MaxResults sets how many bytes of text and structured results, in all, a run
// may bring before it takes no more calls. The default is [DefaultMaxResults].
func MaxResults(n int) Option { return func(o *options) { o.maxResults = n } }

// MaxElapsed sets after how long a run takes no more calls. The default, 0, is
// never.
func MaxElapsed(d time.Duration) Option { return func(o *options) { o.maxElapsed = d } }

// Retries sets how many corrections in a row a model has, of each tool whose
// definition says nothing. The default is [DefaultRetries]; 0 is none.
func Retries(n int) Option { return func(o *options) { o.retries = n } }

// RetriesOf sets that of one tool, over its definition.
func RetriesOf(tool string, n int) Option {
	return func(o *options) { o.retriesOf = with(o.retriesOf, tool, n) }
}

// OnExhausted says what becomes of a run in which a model has used up a tool's
// corrections. The default is [EndRun].
func OnExhausted(e Exhaustion) Option { return func(o *options) { o.exhausted = e } }

func with(m map[string]int, key string, n int) map[string]int {
	if m == nil {
		m = make(map[string]int)
	}
	m[key] = n
	return m
}
