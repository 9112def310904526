// What crypto/x509 loads of files: the argument is a file with one path a line; for each, one line is printed: `ok` or
// `refused`, then the SHA-256 of each certificate in its order.
//
// CertPool does not say what it holds, so the loop of AppendCertsFromPEM is done again here, and the pool must agree
// with it.

// The go line of go.mod is that of the oldest Go; a new one must not fall back to how that one was.
//go:debug default=go1.27

package main

import (
	"bufio"
	"crypto/sha256"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"os"
	"strings"
)

func load(bytes []byte) []string {
	var loaded []string
	for rest := bytes; len(rest) > 0; {
		var block *pem.Block
		block, rest = pem.Decode(rest)
		if block == nil {
			break
		}
		if block.Type != "CERTIFICATE" || len(block.Headers) != 0 {
			continue
		}
		if certificate, err := x509.ParseCertificate(block.Bytes); err == nil {
			loaded = append(loaded, fmt.Sprintf("%x", sha256.Sum256(certificate.Raw)))
		}
	}
	return loaded
}

func check(path string, bytes []byte, loaded []string) {
	pool := x509.NewCertPool()
	if any := pool.AppendCertsFromPEM(bytes); any != (len(loaded) > 0) {
		fail("%s: the pool says %v, of %d certificates", path, any, len(loaded))
	}
	distinct := make(map[string]bool)
	for _, fingerprint := range loaded {
		distinct[fingerprint] = true
	}
	if count := len(pool.Subjects()); count != len(distinct) {
		fail("%s: the pool has %d certificates, not %d", path, count, len(distinct))
	}
}

func fail(format string, values ...interface{}) {
	fmt.Fprintf(os.Stderr, format+"\n", values...)
	os.Exit(1)
}

func main() {
	if len(os.Args) != 2 {
		fail("one argument: a file with one path a line")
	}
	list, err := os.ReadFile(os.Args[1])
	if err != nil {
		fail("%v", err)
	}
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	for _, path := range strings.Split(strings.TrimSuffix(string(list), "\n"), "\n") {
		bytes, err := os.ReadFile(path)
		if err != nil {
			fail("%v", err)
		}
		loaded := load(bytes)
		check(path, bytes, loaded)
		verdict := "ok"
		if len(loaded) == 0 {
			verdict = "refused"
		}
		fmt.Fprintln(out, strings.Join(append([]string{verdict}, loaded...), " "))
	}
}
