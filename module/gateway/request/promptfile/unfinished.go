package promptfile

import (
	"slices"
	"sync"
)

// Unfinished are the files of which a provider has a piece, by their sessions. Other gateways do not know them: they
// would have to share the line that has begun. The zero Unfinished has none.
type Unfinished struct {
	mu    sync.Mutex
	files map[string]*File
	order []string // the sessions, the one of the latest piece last
	held  int      // bytes of all lines that have begun
}

// The bounds of unfinished files. Beyond them, those are forgotten that wait the longest.
const (
	mostUnfinished = 1000
	mostHeld       = 64 << 20 // bytes
)

// Next returns the file of a session for a piece behind so many bytes: the one that begins with the piece is
// begun. It returns nil if the bytes before the piece are not known.
func (u *Unfinished) Next(session string, offset int64, begin func() *File) *File {
	u.mu.Lock()
	defer u.mu.Unlock()
	switch f := u.files[session]; {
	case f == nil && offset == 0:
		return begin()
	case f != nil && f.scan.Offset == offset && !f.refused:
		return f.copy()
	}
	return nil
}

// Put notes the file of a session, after another piece of it was stored, or refused: the provider may have a
// part of that.
func (u *Unfinished) Put(session string, f *File) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.forget(session)
	if u.files == nil {
		u.files = make(map[string]*File)
	}
	u.files[session], u.order, u.held = f, append(u.order, session), u.held+f.scan.Held()
	for len(u.order) > mostUnfinished || u.held > mostHeld {
		u.forget(u.order[0])
	}
}

// forget forgets the file of a session. The caller holds mu.
func (u *Unfinished) forget(session string) {
	if f := u.files[session]; f != nil {
		delete(u.files, session)
		u.order = slices.DeleteFunc(u.order, func(other string) bool { return other == session })
		u.held -= f.scan.Held()
	}
}
