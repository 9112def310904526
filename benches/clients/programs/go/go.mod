module castore-clients

go 1.19
