import { redisStore } from "../../src/store/drivers/redis.ts";
import { createClient } from "redis";
import { testFaults } from "./faults.ts";

testFaults("redis", {
  open: (address, now) => redisStore(address, now ? { now } : {}),
  isCommit: (sent) => sent.includes("EVALSHA") && sent.includes("}:version"),
  smallPoolQuery: "",
  async exhaustConnections(address) {
    const admin = await createClient({ url: address }).on("error", () => {}).connect();
    await admin.configSet("maxclients", "1");
    return async () => {
      await admin.configSet("maxclients", "1000");
      admin.destroy();
    };
  },
});
