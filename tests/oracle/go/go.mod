module castore/oracle

go 1.19
