// Package testserver starts the servers that tests need: PostgreSQL, MariaDB and etcd, as
// the system's packages install them, each once for a test binary, on a free port of the
// loopback, in a folder of its own, and as a user without privileges.
//
// A server ends with the test binary, however that ends: a shell stands between the
// two, reads the standard input that the binary holds open, and at its end stops the
// server and removes the folder.
//
// TOOLGEN_TEST_POSTGRES_DSN, TOOLGEN_TEST_MYSQL_DSN and TOOLGEN_TEST_ETCD name servers to
// use instead. A test that finds no server is skipped; with CI=true it fails.
package testserver

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// PostgreSQL returns the address of a server, as a URL with a database in it. Its user
// may do everything.
func PostgreSQL(tb testing.TB) string {
	tb.Helper()
	return give(tb, "TOOLGEN_TEST_POSTGRES_DSN", postgres)
}

// MySQL returns the address of a MariaDB server, in the form of
// github.com/go-sql-driver/mysql, without a database. Its user may do everything.
func MySQL(tb testing.TB) string {
	tb.Helper()
	return give(tb, "TOOLGEN_TEST_MYSQL_DSN", mariadb)
}

// Etcd returns the endpoint of an etcd server, which asks for no login.
func Etcd(tb testing.TB) string {
	tb.Helper()
	return give(tb, "TOOLGEN_TEST_ETCD", etcd)
}

func give(tb testing.TB, variable string, start func() (string, error)) string {
	tb.Helper()
	if dsn := os.Getenv(variable); dsn != "" {
		return dsn
	}
	dsn, err := start()
	switch {
	case errors.Is(err, exec.ErrNotFound) && os.Getenv("CI") != "true":
		tb.Skipf("no server: %v; install it, or set %s", err, variable)
	case err != nil:
		tb.Fatal(err)
	}
	return dsn
}

var postgres = sync.OnceValues(func() (string, error) {
	port, err := server{
		program: "postgres", where: postgresFolders(), user: "postgres",
		create: `initdb -D "$DIR/data" -U toolgen -A trust -E UTF8 --locale=C.UTF-8 --no-sync`,
		serve: `postgres -D "$DIR/data" -p "$PORT" -c listen_addresses=127.0.0.1 -c unix_socket_directories= ` +
			`-c fsync=off -c full_page_writes=off -c max_connections=200`,
		ready: "ready to accept connections", stop: "QUIT",
	}.start()
	return "postgres://toolgen@127.0.0.1:" + port + "/postgres?sslmode=disable", err
})

// postgresFolders are where packages put a server that isn't on PATH.
func postgresFolders() []string {
	folders, _ := filepath.Glob("/usr/lib/postgresql/*/bin")                    // fails for bad patterns only
	if out, err := exec.Command("pg_config", "--bindir").Output(); err == nil { //nolint:noctx // it returns at once
		folders = append([]string{strings.TrimSpace(string(out))}, folders...)
	}
	return folders
}

var mariadb = sync.OnceValues(func() (string, error) {
	port, err := server{
		program: "mariadbd", where: []string{"/usr/sbin"}, user: "mysql",
		create: `mariadb-install-db --no-defaults --datadir="$DIR/data" --auth-root-authentication-method=normal --skip-test-db --skip-name-resolve`,
		serve: `mariadbd --no-defaults --datadir="$DIR/data" --port="$PORT" --bind-address=127.0.0.1 --socket="$DIR/socket" ` +
			`--pid-file="$DIR/pid" --skip-name-resolve --innodb-flush-method=nosync --innodb-buffer-pool-size=64M`,
		ready: "ready for connections", stop: "KILL",
	}.start()
	return "root@tcp(127.0.0.1:" + port + ")/", err
})

var etcd = sync.OnceValues(func() (string, error) {
	const client, peer = `http://127.0.0.1:$PORT`, `http://127.0.0.1:$PEER`
	port, err := server{
		program: "etcd", where: []string{"/usr/sbin"}, user: "etcd",
		serve: `etcd --data-dir "$DIR/data" --listen-client-urls ` + client + ` --advertise-client-urls ` + client +
			` --listen-peer-urls ` + peer + ` --initial-advertise-peer-urls ` + peer + ` --initial-cluster default=` + peer + ` --unsafe-no-fsync`,
		ready: "ready to serve client requests", stop: "KILL",
	}.start()
	return "http://127.0.0.1:" + port, err
})

// A server says how one is made and started. Its commands are read by a shell, which
// knows DIR and PORT, and the number of another free port, PEER.
type server struct {
	program string
	where   []string // folders to look in after those of PATH
	user    string   // whose it is if root starts it
	create  string   // "": nothing needs to be made
	serve   string
	ready   string // what it logs once it serves
	stop    string // the signal that ends it at once, with its children
}

// A server has this long to start.
const startWithin = time.Minute

// supervise waits for the end of its standard input, and leaves nothing.
const supervise = `
trap 'rm -rf "$DIR"' EXIT
(eval "${CREATE:-true}") >"$DIR/log" 2>&1 </dev/null || { cat >/dev/null; exit 1; }
eval "exec $SERVE" >>"$DIR/log" 2>&1 </dev/null &
cat >/dev/null
kill -"$STOP" $!
wait
`

// lifelines are the inputs that the shells wait for the end of: they are never closed,
// and no garbage.
var lifelines sync.Map

// start returns the port that the server listens on.
func (s server) start() (string, error) {
	bin, err := s.find()
	if err != nil {
		return "", err
	}
	port, err := freePort()
	if err != nil {
		return "", err
	}
	peer, err := freePort()
	if err != nil {
		return "", err
	}
	dir, err := os.MkdirTemp("", "toolgen-"+s.program+"-")
	if err != nil {
		return "", err
	}
	cmd := exec.Command("sh", "-c", supervise) //nolint:noctx // it lives as long as the process
	cmd.Dir = dir
	cmd.Env = []string{"DIR=" + dir, "PORT=" + port, "PEER=" + peer, "CREATE=" + s.create, "SERVE=" + s.serve, "STOP=" + s.stop, "LC_ALL=C.UTF-8", "PATH=" + bin + ":" + os.Getenv("PATH")}
	if err := asUser(cmd, dir, s.user, "nobody"); err != nil {
		return "", errors.Join(err, os.Remove(dir))
	}
	lifeline, err := cmd.StdinPipe()
	if err != nil {
		return "", err
	}
	lifelines.Store(lifeline, nil)
	if err := cmd.Start(); err != nil {
		return "", errors.Join(err, os.Remove(dir))
	}
	return port, s.await(filepath.Join(dir, "log"))
}

// await waits until the server's log says that it serves.
func (s server) await(log string) error {
	for end := time.Now().Add(startWithin); ; time.Sleep(20 * time.Millisecond) {
		text, err := os.ReadFile(log)
		if err == nil && strings.Contains(string(text), s.ready) {
			return nil
		}
		if time.Now().After(end) {
			return fmt.Errorf("%s doesn't serve within %s (%w); it says: %s", s.program, startWithin, err, text)
		}
	}
}

// find returns the folder that the server's program is in.
func (s server) find() (string, error) {
	if path, err := exec.LookPath(s.program); err == nil {
		return filepath.Dir(path), nil
	}
	for _, dir := range s.where {
		if _, err := exec.LookPath(filepath.Join(dir, s.program)); err == nil {
			return dir, nil
		}
	}
	return "", fmt.Errorf("%s: %w", s.program, exec.ErrNotFound)
}

func freePort() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // it returns at once
	if err != nil {
		return "", err
	}
	_, port, err := net.SplitHostPort(l.Addr().String())
	return port, errors.Join(err, l.Close())
}
