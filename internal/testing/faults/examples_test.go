package faults

var exampleFaults = []fault{
	{
		name: "example-password-not-compared", in: "examples/operator.databaseOperations",
		old:  ` && found.PasswordVersion == password`,
		new:  ` && password == password`,
		test: "examples/operator.TestPassword/Rotated", why: "a rotated password wakes the database and does not reach the cloud",
	},
	{
		name: "example-deletes-while-creating", in: "examples/operator.clusterExtensions",
		old:  `chain.New(idle, chain.When(`,
		new:  `chain.New(chain.When(`,
		test: "examples/operator.TestClusterDeletion/Creating", why: "the cloud refuses the deletion of a cluster whose creation is under way",
	},
	{
		name: "example-secret-stays", in: "examples/operator.place.empty",
		old:  `, &corev1.SecretList{}`,
		new:  ``,
		test: "examples/operator.TestInterrupted/Guarded", why: "the namespace of an interrupted story never ends, because a guarded Secret stays",
	},
}
