// Package signin signs users in where their company has accounts already: at issuers of OpenID
// Connect, and at a proxy in front of the gateway.
//
// It promises that a person is identified by issuer and subject, never by a name or an e-mail
// address; that an answer counts only in the browser that began the sign-in, once, for the
// issuer that was asked; that tokens are accepted only with an asymmetric signature of the
// issuer, for this client, within their time; that no request can choose an address that the
// gateway calls or that a browser is sent to; and that an issuer that does not answer delays
// nothing but sign-ins with it.
//
// It refuses identities in the headers, cookies and parameters of requests, which clients can
// send, and keeps no token of an issuer.
package signin

import "errors"

// The errors of a sign-in, which other errors wrap. They are reasons that a person may read.
var (
	ErrExpired = errors.New("the sign-in was begun in another browser, or too long ago")
	ErrRefused = errors.New("the sign-in is not permitted")
	ErrAway    = errors.New("the sign-in service does not answer")
	ErrAnswer  = errors.New("the answer of the sign-in service is not valid")
)
