package main

func Example() {
	main()
	// Output:
	// blocked at PreCheck by ServerRuns: ResourceUnsuitable: server north is stopped; start it
	// audit orders
	// PUT orders
	// ready
}
