package runtime

import (
	"crypto/rand"
	"fmt"
	"os"
)

// holderName names a run in this process to others who want it: where it is, and a
// word that no other has.
func holderName() string {
	host, err := os.Hostname()
	if err != nil {
		host = "a host"
	}
	return fmt.Sprintf("process %d of %s (%s)", os.Getpid(), host, rand.Text()[:8])
}
