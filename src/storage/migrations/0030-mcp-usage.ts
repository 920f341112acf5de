import type { Migration } from '../migration.ts';

/** Usage by JSON-RPC method and primitive of MCP proxies. */
export const mcpUsage: Migration = {
  name: 'mcp-usage',
  async up(schema) {
    for (const column of ['mcp_method', 'mcp_primitive_type', 'mcp_primitive_name'])
      await schema.run(`alter table usage add column ${column} ${schema.text} not null default ''`);
    await schema.run("create index usage_mcp on usage (org_id, minute) where mcp_method <> ''");
  },
};
