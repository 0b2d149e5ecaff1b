// The smallest init in Go: its runtime asks the kernel for futexes, signals, timers, epoll and a clock before main.
package main

import (
	"fmt"
	"os"
)

func main() {
	fmt.Println("Hello Go!")
	os.Exit(5)
}
