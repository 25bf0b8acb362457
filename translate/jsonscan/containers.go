package jsonscan

// EnterObject consumes the opening brace of an object. It returns false and
// consumes nothing if the value at the cursor is none. The members follow:
//
//	for c.Member() {
//		switch string(c.Name()) { ... }
//	}
//
// where the loop's body consumes exactly one value.
func (c *Cursor) EnterObject() bool {
	if !c.at.enter(Object) {
		return false
	}
	c.name.enter()
	return true
}

// EnterMap is EnterObject for an object whose names the author of the document
// chooses: names that differ only in letter case are different members.
func (c *Cursor) EnterMap() bool {
	if !c.EnterObject() {
		return false
	}
	c.name.before.exact = true
	return true
}

// EnterArray consumes the opening bracket of an array. It returns false and
// consumes nothing if the value at the cursor is none. The elements follow:
//
//	for c.Element() { ... }
//
// where the loop's body consumes exactly one value.
func (c *Cursor) EnterArray() bool { return c.at.enter(Array) }

// OpenObject is EnterObject, but consumes a value of another kind and treats it as an
// object without members, so that callers need not check the kind:
//
//	for c.OpenObject(); c.Member(); { ... }
//
// It reports whether the value is an object.
func (c *Cursor) OpenObject() bool { return c.EnterObject() || c.pass() }

// OpenArray is EnterArray, but consumes a value of another kind and treats it as an
// array without elements. It reports whether the value is an array.
func (c *Cursor) OpenArray() bool { return c.EnterArray() || c.pass() }

// pass consumes a value that is not a container, so that Member and Element find nothing
// in it.
func (c *Cursor) pass() bool {
	c.Skip()
	c.at.phase = passed
	return false
}

// Member moves to the value of the object's next member. It returns false after it has
// consumed the end of the object, or on an error. A repeated name is a *DuplicateError;
// names are compared without letter case unless EnterMap has entered the object.
func (c *Cursor) Member() bool {
	more, left := c.at.next('}')
	if left {
		c.name.leave()
	}
	if !more {
		return false
	}
	c.at.space()
	end, reason := c.name.read(c.at.data, c.at.pos, &c.strings)
	if reason != "" {
		c.at.fail(end, reason)
		return false
	}
	if c.at.pos = end; !c.at.colon() {
		return false
	}
	if !c.name.unchecked {
		if first, twice := c.name.repeats(c.at.data); twice {
			c.at.err = &DuplicateError{Offset: c.name.start, Name: string(c.name.text), First: string(nameAt(c.at.data, first)), InMap: c.name.before.exact}
			return false
		}
	}
	c.at.phase = due
	return true
}

// Element moves to the array's next element. It returns false after it has consumed the
// end of the array, or on an error.
func (c *Cursor) Element() bool {
	more, _ := c.at.next(']')
	if more {
		c.at.phase = due
	}
	return more
}

// Name returns the decoded name of the member that Member moved to last. It is
// valid until the next call of Member.
func (c *Cursor) Name() []byte {
	if c.at.err != nil {
		return nil
	}
	return c.name.text
}

// MemberStart returns the offset of the name, its quote included, of the member
// that Member moved to last.
func (c *Cursor) MemberStart() int { return c.name.start }
