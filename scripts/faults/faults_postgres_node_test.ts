import { postgresStore } from "../../src/store/drivers/postgres.ts";
import postgres from "postgres";
import { testFaults } from "./faults.ts";

testFaults("postgres", {
  open: (address, now) => postgresStore(address, now ? { now } : {}),
  // Bind of a prepared statement whose parameters begin with the time.
  isCommit: (sent) =>
    sent.includes("trivet.commit") ||
    /1access_token|1grant|1code|1skill|1blob/.test(sent) && sent.includes("{"),
  smallPoolQuery: "&max=2",
  async exhaustConnections(address) {
    const sql = postgres(address, { max: 80, fetch_types: false, onnotice: () => {} });
    // The server allows sixty connections, and refuses the others.
    const connections = Array.from(
      { length: 80 },
      () => sql.reserve().then((connection) => connection, () => undefined),
    );
    await new Promise((resolve) => setTimeout(resolve, 1500));
    return async () => {
      await sql.end({ timeout: 0 });
      await Promise.allSettled(connections);
    };
  },
});
