"""Writes the files of this folder with NumPy, SciPy, pandas and Python's csv module, and expected.json, which says what is in them, by
fractions. Run with Debian's /usr/bin/python3 and python3-numpy, python3-scipy, python3-pandas. parquet.mjs writes the other files."""

import base64
import csv
import io
import json
import os
import random
import struct
import warnings
import zipfile
from decimal import Decimal, getcontext
from fractions import Fraction

import numpy as np
import pandas as pd
import scipy.io
import scipy.sparse

os.chdir(os.path.dirname(os.path.abspath(__file__)))
warnings.simplefilter("ignore")
getcontext().prec = 1000
random.seed(24)
rng = np.random.default_rng(24)


def bits(x):
    return struct.pack(">d", float(x)).hex()


def exact(values):
    """What the reductions print: sums of fractions, rounded once."""
    terms = [Fraction(float(x)) for x in values]
    squares = sum((x * x for x in terms), Fraction(0))
    root = (Decimal(squares.numerator) / Decimal(squares.denominator)).sqrt()
    return {
        "count": len(terms),
        "sum": bits(float(sum(terms, Fraction(0)))),
        "asum": bits(float(sum((abs(x) for x in terms), Fraction(0)))),
        "nrm2": bits(float(root)),
    }


def described(values, shape=None):
    flat = [float(x) for x in values]
    return {"values": [bits(x) for x in flat], "shape": list(shape or [len(flat)]), **exact(flat)}


# ---- .npy: every type, both byte orders, both storage orders


def saved(array):
    file = io.BytesIO()
    np.save(file, array)
    return base64.b64encode(file.getvalue()).decode()


def numbers(dtype, count):
    kind = np.dtype(dtype)
    if kind.kind == "b":
        return rng.integers(0, 2, count).astype(bool)
    if kind.kind == "f":
        with np.errstate(all="ignore"):
            x = (rng.standard_normal(count) * 2.0 ** rng.integers(-14, 14, count)).astype(kind)
        return x
    info = np.iinfo(kind)
    if kind.itemsize < 8:
        return np.array([info.min, info.max] + [random.randint(info.min, info.max) for _ in range(count - 2)], dtype=kind)
    # Only integers that are binary64 numbers: 53 bits, shifted.
    low = -(2**53) if info.min < 0 else 0
    some = [random.randint(low, 2**53) << random.randint(0, 10) for _ in range(count - 3)]
    return np.array([info.min, 2**53, 2**62 + 2**10] + some, dtype=kind)


npy = {}
TYPES = ["?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8"]
for name in TYPES:
    for order in "<>":
        dtype = np.dtype(name).newbyteorder(order)
        for layout, shape in (("C", (12,)), ("C", (3, 4)), ("F", (3, 4)), ("C", (2, 3, 2)), ("F", (2, 3, 2))):
            if np.dtype(name).itemsize == 1 and order == ">":
                continue
            array = np.array(numbers(name, 12).reshape(shape), dtype=dtype, order=layout)
            flat = array.reshape(-1)  # row by row
            npy[f"{dtype.str} {shape} {layout}"] = {"file": saved(array), **described([float(x) for x in flat], shape), "order": layout}
npy["scalar i4"] = {"file": saved(np.array(7, dtype="i4")), **described([7.0], [1]), "order": "C"}
npy["empty i8"] = {"file": saved(np.zeros(0, dtype="i8")), **described([], [0]), "order": "C"}
special = np.array([0.0, -0.0, np.inf, -np.inf, 6e-8, -6e-8, 65504, 6.104e-05], dtype="f2")
npy["f2 special"] = {"file": saved(special), "values": [bits(x) for x in special], "shape": [8], "order": "C"}

halves = np.arange(65536, dtype="u2")[::97].view("f2")
refused = {
    "i8 beyond": [saved(np.array([[1, 2], [3, 2**53 + 1]])), "element (1, 1) is 9007199254740993"],
    "i8 beyond F": [saved(np.array([[1, 2**60 + 1], [3, 4]], order="F")), "element (0, 1) is 1152921504606846977"],
    "u8 beyond": [saved(np.array([2**63, 2**64 - 1], dtype="u8")), "element 1 is 18446744073709551615"],
    "u8 beyond >": [saved(np.array([2**64 - 1], dtype=">u8")), "element 0 is 18446744073709551615"],
    "i8 low >": [saved(np.array([0, -(2**63) + 1], dtype=">i8")), "element 1 is -9223372036854775807"],
    "long double": [saved(np.array([1.5], dtype=np.longdouble)), "floating point of another width"],
    "complex": [saved(np.array([1j])), "complex numbers"],
    "complex64": [saved(np.array([1j], dtype="c8")), "complex numbers"],
    "date": [saved(np.array(["2026-01-01"], dtype="M8[D]")), "dates"],
    "span": [saved(np.array([5], dtype="m8[s]")), "time spans"],
    "object": [saved(np.array([1, None], dtype=object)), "Python objects"],
    "text": [saved(np.array(["1.5"])), "text"],
    "bytes": [saved(np.array([b"1.5"])), "bytes"],
    "structure": [saved(np.array([(1, 2.0)], dtype=[("a", "i4"), ("b", "f8")])), "structures"],
}

# ---- .npz

npz = {}
a = rng.integers(-(2**40), 2**40, (3, 4))
b = rng.standard_normal((4, 4)).astype("f4")
c = np.asfortranarray(rng.standard_normal((2, 3, 4)))
d = rng.standard_normal(400).round(2)
np.savez("stored.npz", a=a, b=b, c=c, d=d)
np.savez_compressed("deflated.npz", a=a, b=b, c=c, d=d)
np.savez_compressed("one.npz", d)
np.savez("unnamed.npz", a, b)
for file in ("stored.npz", "deflated.npz"):
    npz[file] = {name: described(x.reshape(-1).tolist(), x.shape) for name, x in (("a", a), ("c", c), ("d", d))}
npz["one.npz"] = {"arr_0": described(d.tolist())}
npz["unnamed.npz"] = {"arr_0": described(a.reshape(-1).tolist(), a.shape)}
scipy.sparse.save_npz("sparse.npz", scipy.sparse.random(20, 20, 0.1, random_state=1, format="csr"))
with np.load("sparse.npz") as members:
    npz["sparse.npz"] = {"data": described(members["data"].tolist()), "indices": described(members["indices"].tolist())}
# Sizes and places of 64 bits, as in archives of more than 4 GiB.
limit, zipfile.ZIP64_LIMIT = zipfile.ZIP64_LIMIT, 8
with zipfile.ZipFile("zip64.npz", "w", zipfile.ZIP_DEFLATED) as archive:
    for name, x in (("a", a), ("d", d)):
        file = io.BytesIO()
        np.save(file, x)
        archive.writestr(f"{name}.npy", file.getvalue())
    archive.comment = b"a comment"
zipfile.ZIP64_LIMIT = limit
npz["zip64.npz"] = {name: described(x.reshape(-1).tolist(), x.shape) for name, x in (("a", a), ("d", d))}
with zipfile.ZipFile("bzip2.npz", "w", zipfile.ZIP_BZIP2) as archive:
    archive.write("one.npz", "x.npy")
with zipfile.ZipFile("none.npz", "w") as archive:
    archive.writestr("readme.txt", "no arrays")

# ---- text by numpy.savetxt

text = {}
M = rng.standard_normal((5, 3)) * 10.0 ** rng.integers(-200, 200, (5, 3))
I = rng.integers(-1000, 1000, (5, 3))


def savetxt(name, array, options, flags=(), columns=None, **given):
    np.savetxt(name, array, **given)
    delimiter = given.get("delimiter")
    found = np.loadtxt(name, delimiter=None if delimiter == " " else delimiter, skiprows=1 if given.get("comments") == "" else 0, ndmin=2)
    rows = found.reshape(1, -1).tolist() if name == "row.txt" else found.tolist()
    text[name] = {"flags": list(flags), "columns": columns, "rows": [[bits(x) for x in row] for row in rows], "sums": [exact(col) for col in zip(*rows)]}


savetxt("blank.txt", M, ())
savetxt("names.txt", M, (), columns=["a", "b", "c"], header="a b c")
savetxt("footer.txt", M, (), header="made by numpy\n2 lines", footer="the end")
savetxt("width.txt", M / 10.0**180, (), fmt="%30.17g")
savetxt("mixed.txt", I, (), fmt=["%5d", "%-8d", "%+d"])
savetxt("vector.txt", M[:, 0], ())
savetxt("row.txt", M[:, 0].reshape(1, 5), ())
savetxt("windows.txt", M, (), newline="\r\n")
savetxt("comma.csv", M, (), columns=["a", "b", "c"], delimiter=",", header="a,b,c")
savetxt("plain.csv", M, (), columns=["a", "b", "c"], delimiter=",", header="a,b,c", comments="")
savetxt("semicolon.csv", M, (), ("--delimiter", ";"), delimiter=";", fmt="%.17g")
savetxt("tab.tsv", M, (), delimiter="\t")
savetxt("bar.csv", I, (), ("--delimiter", "|"), delimiter="|", fmt="%d")
savetxt("blank.csv", M, (), ("--delimiter", "whitespace"))
special_values = np.array([[np.nan, np.inf], [-np.inf, -0.0], [5e-324, 1.7976931348623157e308]])
np.savetxt("special.txt", special_values)
text["special.txt"] = {"flags": [], "columns": None, "rows": [[bits(x) if x == x else "7ff8000000000000" for x in row] for row in special_values.tolist()]}

# ---- CSV by Python's csv module, pandas and spreadsheets

tables = {}
NOTES = ["plain", 'with "quotes"', "with, comma; and semicolon", "two\nlines", "tab\tand | bar", "Grüße ✓", "", " blanks ", "5\" pipe", "#"]
values = [random.uniform(-1, 1) * 10.0 ** random.randint(-30, 30) for _ in NOTES]
amounts = [random.randint(-1000, 1000) for _ in NOTES]


def table(name, flags, encoding="utf8", **given):
    with open(name, "w", newline="", encoding=encoding) as file:
        writer = csv.writer(file, **given)
        writer.writerow(["note", "price, net", "amount"])
        for note, value, amount in zip(NOTES, values, amounts):
            writer.writerow([note, value, amount])
    # What Python reads back is what must be read here.
    with open(name, newline="", encoding=encoding) as file:
        rows = list(csv.reader(file, **{key: x for key, x in given.items() if key in ("delimiter", "quotechar")}))[1:]
    prices = [float(row[1]) for row in rows]
    products = sum((Fraction(x) * int(row[2]) for x, row in zip(prices, rows)), Fraction(0))
    tables[name] = {"flags": list(flags), "price": exact(prices), "amount": exact([int(row[2]) for row in rows]), "dot": bits(float(products))}


table("minimal.csv", ())
table("all.csv", (), quoting=csv.QUOTE_ALL)
table("nonnumeric.csv", (), quoting=csv.QUOTE_NONNUMERIC)
table("unix.csv", (), lineterminator="\n")
table("excel.tsv", (), delimiter="\t")
table("bars.csv", ("--delimiter", "|"), delimiter="|")
table("spreadsheet.csv", ("--delimiter", ";"), encoding="utf-8-sig", delimiter=";", quoting=csv.QUOTE_ALL)
table("bom.csv", (), encoding="utf-8-sig")

frame = pd.DataFrame({"name": ["x", "y", "z", "w"], "u": [1.5, np.nan, 3.25, -0.1], "v": [10.0, 20.0, np.nan, 0.3], "n": [1, 2, 3, 4]})
frame.to_csv("pandas.csv", index=False)
frame.to_csv("index.csv")
frame.to_csv("na.csv", index=False, na_rep="NA")
frame.to_csv("float.csv", index=False, float_format="%.3e", sep=";")
both = frame.dropna()
pandas = {
    "u": exact(frame["u"].dropna().tolist()),
    "v": exact(frame["v"].dropna().tolist()),
    "n": exact(frame["n"].tolist()),
    "dot": bits(float(sum(Fraction(x) * Fraction(y) for x, y in zip(both["u"].tolist(), both["v"].tolist())))),
}

# ---- Matrix Market by SciPy

market = {}


def mmwrite(name, matrix, **given):
    scipy.io.mmwrite(name, matrix, **given)
    A = scipy.io.mmread(name)
    dense = A.toarray() if scipy.sparse.issparse(A) else np.asarray(A)
    entries = A.nnz if scipy.sparse.issparse(A) else dense.size
    market[name] = {"rows": dense.shape[0], "cols": dense.shape[1], "entries": int(entries), "dense": [bits(x) for x in dense.reshape(-1).tolist()]}


S = scipy.sparse.random(7, 5, 0.4, random_state=3, format="coo")
S.data *= 10.0 ** rng.integers(-20, 20, S.nnz)
Q = scipy.sparse.random(6, 6, 0.4, random_state=4, format="coo")
whole = scipy.sparse.coo_matrix((rng.integers(-99, 99, 8), (rng.permutation(7)[:7].tolist() + [0], [0, 1, 2, 3, 4, 0, 2, 4])), shape=(7, 5))
mmwrite("real.mtx", S, comment="written by SciPy\nin two lines", precision=17)
mmwrite("digits.mtx", S)
mmwrite("integer.mtx", scipy.sparse.csr_matrix(whole))
mmwrite("unsigned.mtx", scipy.sparse.coo_matrix((np.array([1, 2, 2**40], dtype="u8"), ([0, 1, 2], [2, 1, 0])), shape=(3, 3)))
mmwrite("pattern.mtx", S, field="pattern")
mmwrite("symmetric.mtx", Q + Q.T)
mmwrite("skew.mtx", Q - Q.T)
mmwrite("general.mtx", Q + Q.T, symmetry="general")
mmwrite("array.mtx", rng.standard_normal((4, 3)))
mmwrite("arraySymmetric.mtx", (Q + Q.T).toarray())
mmwrite("arraySkew.mtx", (Q - Q.T).toarray())
mmwrite("arrayInteger.mtx", rng.integers(-9, 9, (2, 5)))
mmwrite("csc.mtx", scipy.sparse.csc_matrix(S))
mmwrite("empty.mtx", scipy.sparse.coo_matrix((3, 4)))
scipy.io.mmwrite("complex.mtx", scipy.sparse.coo_matrix(np.array([[1j, 2], [0, 3]])))

# What only options allow. The values are sums of fractions.
unusual = {}


def unusual_file(name, options, lines, entries, rows, cols):
    with open(name, "w", encoding="utf8") as file:
        file.write("".join(f"{line}\n" for line in lines))
    total = {}
    for i, j, value in entries:
        total[i, j] = total.get((i, j), Fraction(0)) + Fraction(value)
    dense = [float(total.get((i, j), 0)) for i in range(rows) for j in range(cols)]
    unusual[name] = {"options": options, "rows": rows, "cols": cols, "entries": len(total), "dense": [bits(x) for x in dense]}


triples = [(random.randrange(6), random.randrange(5), random.uniform(-1, 1) * 2.0 ** random.randint(-60, 60)) for _ in range(60)]
plain = [f"{i + 1} {j + 1} {value!r}" for i, j, value in triples]
banner = "%%MatrixMarket matrix coordinate"
unusual_file("duplicates.mtx", {"duplicates": "add"}, [f"{banner} real general", "6 5 60", *plain], triples, 6, 5)
low = [(max(i, j), min(i, j), value) for i, j, value in triples if i < 5]
mirrored = low + [(j, i, value) for i, j, value in low if i != j]
unusual_file("duplicatesSymmetric.mtx", {"duplicates": "add"}, [f"{banner} real symmetric", f"5 5 {len(low)}"] + [f"{i + 1} {j + 1} {value!r}" for i, j, value in low], mirrored, 5, 5)
once = {(i, j): value for i, j, value in triples}
unusual_file("weights.mtx", {"patternValues": "ignore"}, [f"{banner} pattern general", f"6 5 {len(once)}"] + [f"{i + 1} {j + 1} {value!r}" for (i, j), value in once.items()], [(i, j, 1) for i, j in once], 6, 5)
unusual_file("sizes.mtx", {"headerless": "sizes"}, [f"6 5 {len(once)}"] + [f"{i + 1} {j + 1} {value!r}" for (i, j), value in once.items()], [(i, j, value) for (i, j), value in once.items()], 6, 5)
unusual_file("edges.mtx", {"headerless": "entries"}, ["% a graph"] + [f"{i + 1}\t{j + 1}" for i, j in once], [(i, j, 1) for i, j in once], max(i for i, _ in once) + 1, max(j for _, j in once) + 1)
np.savetxt("triples.mtx", [(i + 1, j + 1, value) for (i, j), value in once.items()], fmt=["%d", "%d", "%.17g"])
with open("triples.mtx", encoding="utf8") as file:
    lines = file.read().splitlines()
unusual_file("triples.mtx", {"headerless": "entries"}, lines, [(i, j, value) for (i, j), value in once.items()], max(i for i, _ in once) + 1, max(j for _, j in once) + 1)
pairs = {(max(i, j), min(i, j)): value for i, j, value in triples if i < 5}
sides = [(i, j, value) if random.random() < 0.5 else (j, i, value) for (i, j), value in pairs.items()]
unusual_file("upper.mtx", {"symmetric": "either"}, [f"{banner} real symmetric", f"5 5 {len(sides)}"] + [f"{i + 1} {j + 1} {value!r}" for i, j, value in sides], [(i, j, value) for i, j, value in sides] + [(j, i, value) for i, j, value in sides if i != j], 5, 5)
apart = [(i, j, value) for i, j, value in sides if i != j]
unusual_file("upperSkew.mtx", {"symmetric": "either"}, [f"{banner} real skew-symmetric", f"5 5 {len(apart)}"] + [f"{i + 1} {j + 1} {value!r}" for i, j, value in apart], apart + [(j, i, -value) for i, j, value in apart], 5, 5)

with open("expected.json", "w", encoding="utf8") as file:
    json.dump(
        {
            "versions": {"numpy": np.__version__, "scipy": scipy.__version__, "pandas": pd.__version__},
            "npy": npy,
            "halves": {"file": saved(halves), "values": [bits(x) if x == x else "7ff8000000000000" for x in halves.astype(float).tolist()]},
            "refused": refused,
            "npz": npz,
            "text": text,
            "tables": tables,
            "pandas": pandas,
            "market": market,
            "unusual": unusual,
        },
        file,
        indent=0,
        allow_nan=False,
    )
