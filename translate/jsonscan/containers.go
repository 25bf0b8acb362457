package jsonscan

// EnterObject consumes the opening brace of an object. It returns false and
// consumes nothing if the value at the cursor is none. The members follow:
//
//	for c.Member() {
//		switch string(c.Name()) { ... }
//	}
//
// where the loop's body consumes exactly one value.
func (c *Cursor) EnterObject() bool { return c.enterObject(false) }

// EnterMap is EnterObject for an object whose names the author of the document
// chooses: names that differ only in letter case are different members.
func (c *Cursor) EnterMap() bool { return c.enterObject(true) }

func (c *Cursor) enterObject(exact bool) bool {
	if !c.enter(Object) {
		return false
	}
	if !c.unnamed {
		c.names.enter(exact)
	}
	return true
}

// EnterArray consumes the opening bracket of an array. It returns false and
// consumes nothing if the value at the cursor is none. The elements follow:
//
//	for c.Element() { ... }
//
// where the loop's body consumes exactly one value.
func (c *Cursor) EnterArray() bool { return c.enter(Array) }

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
	c.phase = passed
	return false
}

// enter consumes the first byte of a container of that kind.
func (c *Cursor) enter(kind Kind) bool {
	if c.Kind() != kind {
		return false
	}
	if c.depth == MaxDepth {
		c.fail(c.pos, whyDepth)
		return false
	}
	c.pos++
	c.depth++
	c.phase = fresh
	return true
}

// Member moves to the value of the object's next member. It returns false after it has
// consumed the end of the object, or on an error. A repeated name is a *DuplicateError;
// names are compared without letter case unless EnterMap has entered the object.
func (c *Cursor) Member() bool {
	if !c.next('}') {
		return false
	}
	c.space()
	start := c.pos
	c.memberStart = start
	if !c.readName() || !c.colon() {
		return false
	}
	if !c.unnamed {
		if first, twice := c.names.add(c.data, c.name, c.nameHash, start); twice {
			c.err = &DuplicateError{Offset: start, Name: string(c.name), First: string(nameAt(c.data, first)), InMap: c.names.exact}
			return false
		}
	}
	c.phase = due
	return true
}

// Element moves to the array's next element. It returns false after it has consumed the
// end of the array, or on an error.
func (c *Cursor) Element() bool {
	if !c.next(']') {
		return false
	}
	c.phase = due
	return true
}

// Name returns the decoded name of the member that Member moved to last. It is
// valid until the next call of Member.
func (c *Cursor) Name() []byte {
	if c.err != nil {
		return nil
	}
	return c.name
}

// MemberStart returns the offset of the name, its quote included, of the member
// that Member moved to last.
func (c *Cursor) MemberStart() int { return c.memberStart }

// ObjectEnd returns the offset of the closing brace that Member consumed last.
func (c *Cursor) ObjectEnd() int { return c.objectEnd }

// next consumes the bytes before the next member or element, or the closing byte. It
// returns false if there is no next one.
func (c *Cursor) next(closing byte) bool {
	if c.err != nil {
		return false
	}
	if c.phase <= passed || c.depth == 0 {
		c.nothing()
		return false
	}
	c.space()
	switch {
	case c.pos == len(c.data):
		c.fail(c.pos, whyEnd)
	case c.data[c.pos] == closing:
		c.leave(closing)
	case c.phase == fresh:
		return true
	case c.data[c.pos] == ',':
		c.pos++
		return true
	default:
		c.fail(c.pos, whyNext)
	}
	return false
}

// nothing ends a value consumed by pass. Without such a value, the caller has not
// consumed the value of a member or element.
func (c *Cursor) nothing() {
	if c.phase != passed {
		c.err = errMisuse
	}
	c.phase = done
}

// leave consumes the last byte of a container.
func (c *Cursor) leave(closing byte) {
	if closing == '}' {
		c.objectEnd = c.pos
		if !c.unnamed {
			c.names.leave()
		}
	}
	c.pos++
	c.depth--
	c.phase = done
}

// colon consumes the colon between a name and its value.
func (c *Cursor) colon() bool {
	c.space()
	if c.pos == len(c.data) || c.data[c.pos] != ':' {
		c.fail(c.pos, whyColon)
		return false
	}
	c.pos++
	return true
}
