package aigateway

import (
	"fmt"
	"strconv"
	"strings"
)

// Cost is an amount of money, in billionths of the unit of its currency.
type Cost struct {
	Nanos    int64
	Currency string // "USD"; empty if it is unknown
}

// String returns the amount with at most six decimals, rounded up: "2.5 USD".
func (c Cost) String() string {
	micros := c.Nanos/1000 + min(1, c.Nanos%1000)
	text := strconv.FormatInt(micros/1_000_000, 10)
	if fraction := micros % 1_000_000; fraction != 0 {
		text += "." + strings.TrimRight(fmt.Sprintf("%06d", fraction), "0")
	}
	return text + " " + c.Currency
}
