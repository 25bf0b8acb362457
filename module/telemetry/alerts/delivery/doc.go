// Package delivery sends alerts to a webhook, as signed JSON or as messages for Slack. Caddy's
// option "events" binds its handler to events. Reports of the spend are sent if its configuration
// names their period.
//
// It promises that no request and no other handler waits for the webhook, that an alert is
// sent once to each webhook for an object, level and period, also after a restart and by
// several gateways with one storage, and that what waits is bounded. It refuses redirects, and
// addresses that are neither http nor https. No log contains the address or the secret.
package delivery
