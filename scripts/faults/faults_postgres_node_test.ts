import { postgresStore } from "../../src/store/postgres.ts";
import { testFaults } from "./faults.ts";

testFaults("postgres", {
  open: (address, now) => postgresStore(address, now ? { now } : {}),
  // Bind of a prepared statement whose parameters begin with the time.
  isCommit: (sent) =>
    sent.includes("trivet.commit") ||
    /1access_token|1grant|1code|1skill|1blob/.test(sent) && sent.includes("{"),
  smallPool: "&max=2",
});
