// Loads the system's certificates, and makes one connection to localhost:PORT.
package main

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"
)

func main() {
	pool, err := x509.SystemCertPool()
	if err != nil {
		fail(err)
	}
	address := "127.0.0.1:" + os.Args[1]
	connection, err := tls.Dial("tcp", address, &tls.Config{RootCAs: pool, ServerName: "localhost"})
	if err != nil {
		fail(err)
	}
	connection.Close()
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}
