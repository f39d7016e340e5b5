# SPDX-License-Identifier: BSD-3-Clause
# Every rank sends the next one some numbers, in a loop: NUICE from Julia, with MPI.jl and the C functions.
#   mpiexecjl -n 4 julia examples/julia/exchange.jl     (libnuice built for the MPI of MPI.jl, in LD_LIBRARY_PATH)
using MPI

check(status) = status == 0 || error(unsafe_string(@ccall "libnuice".nuice_error_text()::Cstring))

MPI.Init()
comm, double = MPI.COMM_WORLD, MPI.Datatype(Float64)
rank, n = MPI.Comm_rank(comm), MPI.Comm_size(comm)
sc, rc, displs = zeros(Cint, n), zeros(Cint, n), zeros(Cint, n)
sc[mod(rank + 1, n)+1] = rc[mod(rank - 1, n)+1] = 1000
s, r, x = zeros(1000), zeros(1000), Ref(C_NULL)
GC.@preserve s r begin # until nuice_free
    check(@ccall "libnuice".nuice_alltoallv_init(s::Ptr{Cvoid}, sc::Ptr{Cint}, displs::Ptr{Cint}, double.val::MPI.API.MPI_Datatype,
        r::Ptr{Cvoid}, rc::Ptr{Cint}, displs::Ptr{Cint}, double.val::MPI.API.MPI_Datatype,
        comm.val::MPI.API.MPI_Comm, MPI.INFO_NULL.val::MPI.API.MPI_Info, x::Ptr{Ptr{Cvoid}})::Cint)
    for step in 1:10
        s .= rank + step
        check(@ccall "libnuice".nuice_start(x[]::Ptr{Cvoid})::Cint)
        check(@ccall "libnuice".nuice_wait(x[]::Ptr{Cvoid})::Cint)
        @assert all(r .== mod(rank - 1, n) + step)
    end
    check(@ccall "libnuice".nuice_free(x::Ptr{Ptr{Cvoid}})::Cint)
end
println("rank $rank of $n is done")
