import { useState } from 'react';
import { StatusPill, type Tone } from '../../kit/badge.tsx';
import { Button } from '../../kit/button.tsx';
import { toBodyOf } from '../../kit/calls.ts';
import { Card } from '../../kit/card.tsx';
import { type Column, DataTable } from '../../kit/data-table.tsx';
import { TextField } from '../../kit/field.tsx';
import { useWrite } from '../../kit/queries.ts';
import { ErrorText } from '../../kit/states.tsx';
import { useToasts } from '../../kit/toast.tsx';
import { mcpTexts } from '../../texts/en/mcp.ts';
import { usePermission } from '../session/session.ts';
import { type McpOutline, setBlocked, type ToolRule } from './mcp-outline.ts';
import { type DiscoveredTool, useToolDiscovery } from './use-tool-discovery.ts';

const own = mcpTexts;

interface ToolRow extends DiscoveredTool {
  readonly rule: ToolRule;
}

export interface ToolRulesProps {
  readonly api: McpOutline;
  readonly document: unknown;
  readonly etag: string | undefined;
  /** Undefined where the URL cannot be read. */
  readonly address: string | undefined;
  readonly canWrite: boolean;
}

const tones: Readonly<Record<ToolRule, Tone>> = { allowed: 'success', blocked: 'danger', open: 'neutral' };

const columns: readonly Column<ToolRow>[] = [
  {
    id: 'name',
    title: own.toolColumns.name,
    cell: ({ name }) => <code className="font-mono text-small break-all">{name}</code>,
  },
  { id: 'about', title: own.toolColumns.about, cell: ({ about }) => <span className="break-words">{about}</span> },
  {
    id: 'rule',
    title: own.toolColumns.rule,
    cell: ({ rule }) => <StatusPill tone={tones[rule]}>{own[rule]}</StatusPill>,
  },
];

/** Tools with a rule, and those that the server lists; a rule is written with the entity tag of the read. */
export function ToolRules({ api, document, etag, address, canWrite }: ToolRulesProps) {
  const toasts = useToasts();
  const [listed, setListed] = useState<readonly DiscoveredTool[]>([]);
  const { mutate, isPending } = useWrite('PUT /api/mcps/{apiId}', ['GET /api/mcps', 'GET /api/mcps/{apiId}']);
  const setRule = ({ name, rule }: ToolRow) =>
    mutate(
      {
        given: {
          params: { apiId: api.id },
          body: toBodyOf<'PUT /api/mcps/{apiId}'>(setBlocked(document, name, rule !== 'blocked')),
        },
        options: { ifMatch: etag, wait: 'applied' },
      },
      {
        onSuccess: () => toasts.showSuccess(own.ruleSaved(name)),
        onError: error => toasts.showError(error.message),
      },
    );
  const abouts = new Map(listed.map(({ name, about }) => [name, about]));
  const names = [...new Set([...Object.keys(api.tools), ...abouts.keys()])].sort();
  const rows = names.map(name => ({ name, about: abouts.get(name) ?? '', rule: api.tools[name] ?? 'open' }));
  return (
    <Card title={own.tools}>
      <div className="flex flex-col gap-4">
        <p className="text-dim">{own.toolsAbout}</p>
        {address !== undefined && <Discovery address={address} onListed={setListed} />}
        {rows.length === 0 ? (
          <p className="text-dim">{own.noTools}</p>
        ) : (
          <DataTable
            label={own.toolList}
            rows={rows}
            columns={columns}
            idOf={({ name }) => name}
            nameOf={({ name }) => name}
            isRefreshing={isPending}
            {...(canWrite && {
              actions: (row: ToolRow) => [
                { label: row.rule === 'blocked' ? own.unblock : own.block, onSelect: () => setRule(row) },
              ],
            })}
          />
        )}
      </div>
    </Card>
  );
}

interface DiscoveryProps {
  readonly address: string;
  onListed(tools: readonly DiscoveredTool[]): void;
}

/** Asks the server for its tools, through the gateway, with a key of the user. */
function Discovery({ address, onListed }: DiscoveryProps) {
  const canCall = usePermission('apis:write');
  const [key, setKey] = useState('');
  const { run, error, count, isBusy } = useToolDiscovery(address, onListed);
  if (!canCall) return null;
  return (
    <div className="flex max-w-[640px] flex-col gap-3">
      <TextField
        label={own.key}
        help={own.keyHelp}
        type="password"
        autoComplete="off"
        value={key}
        onChange={event => setKey(event.target.value)}
      />
      <div className="flex flex-wrap items-center gap-3">
        <Button isBusy={isBusy} onClick={() => run(key.trim())}>
          {own.discover}
        </Button>
        <span role="status" className="text-dim">
          {count === undefined ? '' : own.discovered(count)}
        </span>
      </div>
      <ErrorText error={error} />
    </div>
  );
}
