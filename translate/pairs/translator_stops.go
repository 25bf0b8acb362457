package pairs

// stopSearch finds stop texts in a text that arrives in pieces. It is an automaton, so
// that the cost of a byte does not depend on the number of stops. A state is the longest
// suffix of the text that is a prefix of a stop.
type stopSearch struct {
	stops   []string
	classes [256]uint8 // of the bytes; 0 is the class of bytes that no stop contains
	begins  [256]bool  // whether a stop begins with a byte
	width   int        // the number of classes
	next    []uint16   // the states that follow, by state and class
	states  []stopState
}

// stopState is a state of the search.
type stopState struct {
	length int // of the suffix that is a prefix of a stop
	stop   int // the number, from 1, of the longest stop that the text ends with; 0 for none
}

// newStopSearch returns the search for stops that are not empty.
func newStopSearch(stops []string) *stopSearch {
	s := &stopSearch{stops: stops, width: 1}
	for _, stop := range stops {
		s.begins[stop[0]] = true
		for i := range len(stop) {
			if class := &s.classes[stop[i]]; *class == 0 {
				*class = uint8(s.width)
				s.width++
			}
		}
	}
	s.grow(0)
	for i, stop := range stops {
		s.add(stop, i+1)
	}
	s.link()
	return s
}

// grow adds a state that nothing follows.
func (s *stopSearch) grow(length int) (state uint16) {
	s.states = append(s.states, stopState{length: length})
	s.next = append(s.next, make([]uint16, s.width)...)
	return uint16(len(s.states) - 1)
}

// following returns the states that follow a state, by class. Until link, 0 means none.
func (s *stopSearch) following(state uint16) []uint16 {
	start := int(state) * s.width
	return s.next[start : start+s.width]
}

// add adds the states of a stop.
func (s *stopSearch) add(stop string, number int) {
	state := uint16(0)
	for i := range len(stop) {
		class := s.classes[stop[i]]
		next := s.following(state)[class]
		if next == 0 {
			next = s.grow(i + 1)
			s.following(state)[class] = next
		}
		state = next
	}
	if s.states[state].stop == 0 {
		s.states[state].stop = number
	}
}

// link completes the table: if no stop continues, a state has the successor of its
// longest shorter suffix, whose row is already complete.
func (s *stopSearch) link() {
	shorter := make([]uint16, len(s.states))
	for queue := []uint16{0}; len(queue) > 0; queue = queue[1:] {
		state := queue[0]
		row, back := s.following(state), s.following(shorter[state])
		for class, next := range row {
			if next == 0 {
				row[class] = back[class]
				continue
			}
			if state != 0 {
				shorter[next] = back[class]
			}
			if s.states[next].stop == 0 { // its text ends with the suffix, and with the stop of that
				s.states[next].stop = s.states[shorter[next]].stop
			}
			queue = append(queue, next)
		}
	}
}

// find reads text from a state on, up to the first stop that ends in it. It returns the
// new state, and the end of the stop in the text, 0 for none.
func (s *stopSearch) find(state uint16, text []byte) (next uint16, end int) {
	for i := 0; i < len(text); i++ {
		if state == 0 {
			if i += s.skip(text[i:]); i == len(text) {
				break
			}
		}
		state = s.next[int(state)*s.width+int(s.classes[text[i]])]
		if s.states[state].stop != 0 {
			return state, i + 1
		}
	}
	return state, 0
}

// skip returns the number of bytes of a text before the first byte with which a stop
// begins.
func (s *stopSearch) skip(text []byte) int {
	for i, b := range text {
		if s.begins[b] {
			return i
		}
	}
	return len(text)
}

// stop returns the stop that the text of a state ends with.
func (s *stopSearch) stop(state uint16) string { return s.stops[s.states[state].stop-1] }

// doubtful returns the length of the suffix of the text that may be the beginning of a stop.
func (s *stopSearch) doubtful(state uint16) int { return s.states[state].length }
