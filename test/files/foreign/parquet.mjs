// Writes the Parquet files of this folder with DuckDB and Polars, and an Arrow file with Polars. Run it where the packages
// @duckdb/node-api and nodejs-polars are installed: node parquet.mjs FOLDER.
import { join } from "node:path";
import { DuckDBInstance } from "@duckdb/node-api";
import polars from "nodejs-polars";

const folder = process.argv[2] ?? ".";
const duck = await (await DuckDBInstance.create(":memory:")).connect();

// Row k of the small table; row 3 of d, i and b is null. Sums are checked by hand in the test.
const SMALL = `select
  case when k = 2 then null else k / 8.0::double + 0.1::double end as d,
  (k / 3.0)::float as f,
  case when k = 2 then null else (k * 1000000007 - 3)::bigint end as i,
  case when k = 5 then 9007199254740993 else k end::bigint as large,
  (18446744073709549568 - (k % 2) * 2048)::ubigint as u,
  (4294967295 - k)::uinteger as w,
  (k - 4)::tinyint as t,
  case when k = 2 then null else k % 2 = 0 end as b,
  'row ' || k as s,
  (k / 10.0)::decimal(9, 2) as price,
  timestamp '2026-11-19 00:00:00' + interval (k) day as day,
  [k, k] as list
from range(8) as r(k)`;
for (const codec of ["uncompressed", "snappy", "gzip", "brotli", "zstd", "lz4_raw"])
  await duck.run(`copy (${SMALL}) to '${join(folder, `${codec}.parquet`)}' (format parquet, codec '${codec}')`);
// Several groups of rows, with dictionaries and without.
await duck.run(
  `copy (select k::integer as k, (k % 7)::double as day, nullif(k % 1000, 17) as gap from range(6000) as r(k))
   to '${join(folder, "groups.parquet")}' (format parquet, codec 'gzip', row_group_size 2048)`,
);

const columns = {
  d: [0.1, null, 2.5, -7],
  i: polars.Series("i", [1, -2, null, 4], polars.Int32),
  l: [9007199254740992n, 1n, 2n, 3n],
  large: [1n, 2n, 9007199254740993n, 3n],
  b: [true, false, true, null],
  s: ["a", "b", "c", "d"],
};
polars.DataFrame(columns).writeIPC(join(folder, "polars.arrow"), { compression: "uncompressed" });
polars.DataFrame(columns).writeParquet(join(folder, "polars.parquet"), { compression: "snappy" });
