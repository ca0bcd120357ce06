// WebGPU without a GPU: lets Dawn use the software driver of Debian's chromium, unless the environment names another one. Imported by the
// tests, npm run everywhere and npm run fuzz.
import { existsSync } from "node:fs";

const SWIFTSHADER = "/usr/lib/chromium/vk_swiftshader_icd.json";
if (existsSync(SWIFTSHADER)) process.env.VK_ICD_FILENAMES ??= SWIFTSHADER;
