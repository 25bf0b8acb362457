package translate

import "fmt"

// Set sets the trait with that name from the value as a configuration writes it.
func (t *Traits) Set(name, value string) error {
	return fmt.Errorf("%s: is no trait of a provider", name)
}
