import { useState } from 'react';
import { useWrite } from '../../kit/queries.ts';
import { mcpTexts } from '../../texts/en/mcp.ts';

export interface DiscoveredTool {
  readonly name: string;
  readonly about: string;
}

type Loose = Readonly<Record<string, unknown>>;
const asObject = (value: unknown): Loose => (typeof value === 'object' && value !== null ? (value as Loose) : {});

/** JSON-RPC message of a response: JSON, or the data of its event stream. */
function readMessage(body: unknown): Loose {
  if (typeof body !== 'string') return asObject(body);
  const data = /^data: ?(.*)$/m.exec(body)?.[1] ?? '';
  try {
    return asObject(JSON.parse(data));
  } catch {
    // Not an event stream with JSON: the caller reports a response without tools.
    return {};
  }
}

function readTools(body: unknown): readonly DiscoveredTool[] | undefined {
  const { tools } = asObject(readMessage(body).result) as { tools?: unknown };
  if (!Array.isArray(tools)) return undefined;
  return tools
    .map(asObject)
    .map(({ name, description }) => ({ name: String(name ?? ''), about: String(description ?? '') }))
    .filter(({ name }) => name !== '');
}

const maxMessageChars = 300;

/** `tools/list` through the gateway, sent by the server: the key is neither stored nor logged. */
export function useToolDiscovery(address: string, onListed: (tools: readonly DiscoveredTool[]) => void) {
  const { mutate, error, isPending } = useWrite('POST /api/proxy');
  const [refusal, setRefusal] = useState<Error>();
  const [count, setCount] = useState<number>();
  const run = (key: string) => {
    const headers = {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...(key === '' ? {} : { authorization: key }),
    };
    const body = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} };
    setRefusal(undefined);
    mutate(
      { given: { body: { method: 'POST', url: address, headers, body } } },
      {
        onSuccess: ({ value }) => {
          const tools = readTools(value.body);
          setCount(tools?.length);
          if (tools) return onListed(tools);
          const message = JSON.stringify(value.body ?? '').slice(0, maxMessageChars);
          setRefusal(new Error(mcpTexts.discoverFailed(value.status_code, message)));
        },
      },
    );
  };
  return { run, error: error ?? refusal, count, isBusy: isPending };
}
