package state

// Page is a page of items, by their names. Next is the last name if others follow.
type Page[T any] struct {
	Items []T    `json:"items"`
	Next  string `json:"next"`
}

// pageOf returns the first size items of a sorted list, and those that follow with the name of the
// last one: the next page begins with another name.
func pageOf[T any](all []T, size int, name func(T) string) Page[T] {
	for i := size; i < len(all); i++ {
		if last := name(all[i-1]); name(all[i]) != last {
			return Page[T]{all[:i], last}
		}
	}
	return Page[T]{append([]T{}, all...), ""}
}
