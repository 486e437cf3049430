package aso

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestFollow(t *testing.T) {
	type result struct {
		UnderWay, Ended bool
		Err             error
		Token           string // the stored token after the call
	}
	failed, unknown := refuse(200, "OperationFailed"), refuse(404, "OperationNotFound")
	throttled := refuse(429, "TooManyRequests")
	cases := map[string]struct {
		reason string
		store  tokenStore[int]
		want   result
	}{
		"nothing": {"no operation is under way", tokenStore[int]{}, result{}},
		"under way": {"the token stays", tokenStore[int]{token: "t", polls: map[string]pollResult{"t": {}}},
			result{UnderWay: true, Token: "t"}},
		"no answer": {"a failed poll does not end the operation",
			tokenStore[int]{token: "t", polls: map[string]pollResult{"t": {err: errDown}}},
			result{UnderWay: true, Err: errDown, Token: "t"}},
		"throttled": {"a throttled poll does not end the operation",
			tokenStore[int]{token: "t", polls: map[string]pollResult{"t": {err: throttled}}},
			result{UnderWay: true, Err: throttled, Token: "t"}},
		"unknown to Azure": {"the operation would be polled for ever",
			tokenStore[int]{token: "t", polls: map[string]pollResult{"t": {err: unknown}}},
			result{UnderWay: true, Ended: true, Err: unknown}},
		"done": {"a done operation needs no token", tokenStore[int]{token: "t", polls: map[string]pollResult{"t": {done: true}}},
			result{UnderWay: true, Ended: true}},
		"failed": {"a failed operation needs no token",
			tokenStore[int]{token: "t", polls: map[string]pollResult{"t": {done: true, err: failed}}},
			result{UnderWay: true, Ended: true, Err: failed}},
		"not forgotten": {"a token that cannot be removed is an error",
			tokenStore[int]{token: "t", polls: map[string]pollResult{"t": {done: true}}, lost: errDown},
			result{UnderWay: true, Ended: true, Err: errDown, Token: "t"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			op := tc.store
			underWay, ended, err := follow(t.Context(), &op, 0)
			if !errors.Is(err, tc.want.Err) {
				t.Errorf("%s: %v, want %v", tc.reason, err, tc.want.Err)
			}
			tc.want.Err = nil
			if diff := cmp.Diff(tc.want, result{UnderWay: underWay, Ended: ended, Token: op.token}); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestBegin(t *testing.T) {
	cases := map[string]struct {
		reason string
		token  string
		err    error
		lost   error
		want   error
		stored string
	}{
		"begun":        {"the token is stored", "t", nil, nil, nil, "t"},
		"over at once": {"no operation is under way", "", nil, nil, nil, ""},
		"no call":      {"no token to store", "", nil, errDown, nil, ""},
		"refused":      {"the operation did not begin", "t", errDown, nil, errDown, ""},
		"not stored":   {"without the token the operation would begin again", "t", nil, errDown, errDown, ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			cancel() // a token is stored even after the context ends
			op := &tokenStore[int]{lost: tc.lost}
			if err := begin(ctx, op, 0, tc.token, tc.err); !errors.Is(err, tc.want) || op.token != tc.stored {
				t.Errorf("%s: %v, stored token %q, want %v, %q", tc.reason, err, op.token, tc.want, tc.stored)
			}
		})
	}

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	op := &tokenStore[int]{token: "t", polls: map[string]pollResult{"t": {done: true}}}
	if _, _, err := follow(ctx, op, 0); err != nil || op.token != "" {
		t.Errorf("%v, stored token %q: want it removed even after the context ends", err, op.token)
	}
}

func TestFailure(t *testing.T) {
	cases := map[string]struct {
		reason string
		err    error
		status int
		code   string
	}{
		"Nil":     {"nil has neither status nor code", nil, 0, ""},
		"Azure":   {"a response of Azure has both", refuse(409, "Conflict"), 409, "Conflict"},
		"Wrapped": {"a wrapped error has both", fmt.Errorf("PUT: %w", refuse(403, "AuthorizationFailed")), 403, "AuthorizationFailed"},
		"Network": {"Azure did not respond", errDown, 0, ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := failure(tc.err); got.Status != tc.status || got.Code != tc.code {
				t.Errorf("%s: got %d %q, want %d %q", tc.reason, got.Status, got.Code, tc.status, tc.code)
			}
		})
	}
}
