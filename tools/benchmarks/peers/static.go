package main

import "context"

// These functions call the next one by its name. They show the minimum cost of
// a call through n functions, if the compiler knows all of them.

func static(n int) func(int) {
	return calls(map[int]handler{1: pass1, 5: pass5, 10: pass10, 50: pass50}[n])
}

//go:noinline
func pass1(ctx context.Context, w words) (pair, error) { return end(ctx, w) }

//go:noinline
func pass2(ctx context.Context, w words) (pair, error) { return pass1(ctx, w) }

//go:noinline
func pass3(ctx context.Context, w words) (pair, error) { return pass2(ctx, w) }

//go:noinline
func pass4(ctx context.Context, w words) (pair, error) { return pass3(ctx, w) }

//go:noinline
func pass5(ctx context.Context, w words) (pair, error) { return pass4(ctx, w) }

//go:noinline
func pass6(ctx context.Context, w words) (pair, error) { return pass5(ctx, w) }

//go:noinline
func pass7(ctx context.Context, w words) (pair, error) { return pass6(ctx, w) }

//go:noinline
func pass8(ctx context.Context, w words) (pair, error) { return pass7(ctx, w) }

//go:noinline
func pass9(ctx context.Context, w words) (pair, error) { return pass8(ctx, w) }

//go:noinline
func pass10(ctx context.Context, w words) (pair, error) { return pass9(ctx, w) }

//go:noinline
func pass11(ctx context.Context, w words) (pair, error) { return pass10(ctx, w) }

//go:noinline
func pass12(ctx context.Context, w words) (pair, error) { return pass11(ctx, w) }

//go:noinline
func pass13(ctx context.Context, w words) (pair, error) { return pass12(ctx, w) }

//go:noinline
func pass14(ctx context.Context, w words) (pair, error) { return pass13(ctx, w) }

//go:noinline
func pass15(ctx context.Context, w words) (pair, error) { return pass14(ctx, w) }

//go:noinline
func pass16(ctx context.Context, w words) (pair, error) { return pass15(ctx, w) }

//go:noinline
func pass17(ctx context.Context, w words) (pair, error) { return pass16(ctx, w) }

//go:noinline
func pass18(ctx context.Context, w words) (pair, error) { return pass17(ctx, w) }

//go:noinline
func pass19(ctx context.Context, w words) (pair, error) { return pass18(ctx, w) }

//go:noinline
func pass20(ctx context.Context, w words) (pair, error) { return pass19(ctx, w) }

//go:noinline
func pass21(ctx context.Context, w words) (pair, error) { return pass20(ctx, w) }

//go:noinline
func pass22(ctx context.Context, w words) (pair, error) { return pass21(ctx, w) }

//go:noinline
func pass23(ctx context.Context, w words) (pair, error) { return pass22(ctx, w) }

//go:noinline
func pass24(ctx context.Context, w words) (pair, error) { return pass23(ctx, w) }

//go:noinline
func pass25(ctx context.Context, w words) (pair, error) { return pass24(ctx, w) }

//go:noinline
func pass26(ctx context.Context, w words) (pair, error) { return pass25(ctx, w) }

//go:noinline
func pass27(ctx context.Context, w words) (pair, error) { return pass26(ctx, w) }

//go:noinline
func pass28(ctx context.Context, w words) (pair, error) { return pass27(ctx, w) }

//go:noinline
func pass29(ctx context.Context, w words) (pair, error) { return pass28(ctx, w) }

//go:noinline
func pass30(ctx context.Context, w words) (pair, error) { return pass29(ctx, w) }

//go:noinline
func pass31(ctx context.Context, w words) (pair, error) { return pass30(ctx, w) }

//go:noinline
func pass32(ctx context.Context, w words) (pair, error) { return pass31(ctx, w) }

//go:noinline
func pass33(ctx context.Context, w words) (pair, error) { return pass32(ctx, w) }

//go:noinline
func pass34(ctx context.Context, w words) (pair, error) { return pass33(ctx, w) }

//go:noinline
func pass35(ctx context.Context, w words) (pair, error) { return pass34(ctx, w) }

//go:noinline
func pass36(ctx context.Context, w words) (pair, error) { return pass35(ctx, w) }

//go:noinline
func pass37(ctx context.Context, w words) (pair, error) { return pass36(ctx, w) }

//go:noinline
func pass38(ctx context.Context, w words) (pair, error) { return pass37(ctx, w) }

//go:noinline
func pass39(ctx context.Context, w words) (pair, error) { return pass38(ctx, w) }

//go:noinline
func pass40(ctx context.Context, w words) (pair, error) { return pass39(ctx, w) }

//go:noinline
func pass41(ctx context.Context, w words) (pair, error) { return pass40(ctx, w) }

//go:noinline
func pass42(ctx context.Context, w words) (pair, error) { return pass41(ctx, w) }

//go:noinline
func pass43(ctx context.Context, w words) (pair, error) { return pass42(ctx, w) }

//go:noinline
func pass44(ctx context.Context, w words) (pair, error) { return pass43(ctx, w) }

//go:noinline
func pass45(ctx context.Context, w words) (pair, error) { return pass44(ctx, w) }

//go:noinline
func pass46(ctx context.Context, w words) (pair, error) { return pass45(ctx, w) }

//go:noinline
func pass47(ctx context.Context, w words) (pair, error) { return pass46(ctx, w) }

//go:noinline
func pass48(ctx context.Context, w words) (pair, error) { return pass47(ctx, w) }

//go:noinline
func pass49(ctx context.Context, w words) (pair, error) { return pass48(ctx, w) }

//go:noinline
func pass50(ctx context.Context, w words) (pair, error) { return pass49(ctx, w) }
