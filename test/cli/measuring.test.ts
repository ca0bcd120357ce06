import { expect, test } from "vitest";
import { FILES } from "../report/data.ts";
import { folder, json } from "./cli.ts";

const { at, put } = folder();

test("report and bench name themselves in JSON, as all commands do", async () => {
  const file = put("accuracy.json", JSON.stringify(FILES.accuracy));
  expect(await json(["report", file, "-o", at("page.html")])).toMatchObject({ command: "report", output: at("page.html") });
  expect(await json(["bench", "--only", "bits"])).toMatchObject({ command: "bench" });
});
