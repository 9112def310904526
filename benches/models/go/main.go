// Prints the CPU milliseconds of SystemCertPool, and how many certificates it has.
package main

import (
	"crypto/x509"
	"fmt"
	"os"
	"syscall"
)

func cpu() float64 {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		panic(err)
	}
	return float64(usage.Utime.Nano()+usage.Stime.Nano()) / 1e6
}

func main() {
	start := cpu()
	pool, err := x509.SystemCertPool()
	end := cpu()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Printf("%.3f %d\n", end-start, len(pool.Subjects()))
}
