import { StatusPill } from '../../kit/badge.tsx';
import { Button } from '../../kit/button.tsx';
import { CodeEditor } from '../../kit/code-editor.tsx';
import { TextField } from '../../kit/field.tsx';
import { graphqlTexts } from '../../texts/en/graphql.ts';
import { texts } from '../../texts/texts.ts';
import type { FormObject } from '../apis/form/json-members.ts';

const own = graphqlTexts.supergraph;

interface SubgraphCardProps {
  readonly subgraph: FormObject;
  readonly faults: readonly { readonly pointer: string; readonly message: string }[];
  readonly isReadOnly: boolean;
  onChange(subgraph: FormObject): void;
  onRemove(): void;
}

/** One subgraph: address and schema; members without a field stay as they are. A fault opens it. */
export function SubgraphCard({ subgraph, faults, isReadOnly, onChange, onRemove }: SubgraphCardProps) {
  const name = String(subgraph.name ?? '');
  const sdl = String(subgraph.sdl ?? '');
  return (
    <details open={faults.length > 0 ? true : undefined} className="rounded-control border border-line">
      <summary className="px-3 py-2">
        <span className="font-medium">{name}</span>{' '}
        <code className="font-mono text-small break-all text-dim">{String(subgraph.url ?? '')}</code>{' '}
        {faults.length > 0 && <StatusPill tone="danger">{texts.apis.faults(faults.length)}</StatusPill>}
      </summary>
      <div className="flex flex-col gap-3 p-3 pt-0">
        <TextField
          label={own.url}
          isMono
          disabled={isReadOnly}
          value={String(subgraph.url ?? '')}
          onChange={event => onChange({ ...subgraph, url: event.target.value })}
        />
        <CodeEditor
          label={own.sdlLabel(name)}
          language="text"
          isReadOnly={isReadOnly}
          value={sdl}
          onChange={text => text !== sdl && onChange({ ...subgraph, sdl: text })}
        />
        {faults.map(({ pointer, message }) => (
          <p key={`${pointer} ${message}`} role="alert" className="break-words text-danger">
            {message}
          </p>
        ))}
        {!isReadOnly && (
          <Button className="self-end" onClick={onRemove}>
            {own.remove(name)}
          </Button>
        )}
      </div>
    </details>
  );
}
