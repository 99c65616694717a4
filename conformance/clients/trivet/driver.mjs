import { base, drive, text } from "../drive.mjs";
import { createFlows } from "./flows.mjs";

await drive(createFlows(base, text));
