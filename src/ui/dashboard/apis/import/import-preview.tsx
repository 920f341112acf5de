import { Badge, MethodBadge } from '../../../kit/badge.tsx';
import { Button } from '../../../kit/button.tsx';
import { Card } from '../../../kit/card.tsx';
import { CodeEditor } from '../../../kit/code-editor.tsx';
import { type Column, DataTable } from '../../../kit/data-table.tsx';
import { endpointTexts } from '../../../texts/en/endpoints.ts';
import { importApiTexts } from '../../../texts/en/import-api.ts';
import { texts } from '../../../texts/texts.ts';
import { type ApiEndpoint, listEndpoints } from '../endpoints/endpoints.ts';
import type { PreviewedImport } from './use-import.ts';

const own = importApiTexts;

const columns: readonly Column<ApiEndpoint>[] = [
  { id: 'method', title: own.method, cell: ({ method }) => <MethodBadge method={method} /> },
  { id: 'path', title: own.path, cell: ({ path }) => <code className="font-mono break-all">{path}</code> },
  {
    id: 'middleware',
    title: own.gets,
    cell: ({ middleware }) => (
      <span className="flex flex-wrap gap-1">
        {middleware.map(name => (
          <Badge key={name}>{endpointTexts.names[name] ?? name}</Badge>
        ))}
      </span>
    ),
  },
];

const maxRows = 200;
/** Operations of a difference that are named. */
const maxNamed = 20;

interface PreviewProps {
  readonly preview: PreviewedImport;
  readonly action: string;
  readonly isBusy: boolean;
  onStore(): void;
}

/** Result of the import: its endpoints with their middleware, and the whole document. */
export function ImportPreview({ preview: { document, faults, difference }, action, isBusy, onStore }: PreviewProps) {
  const endpoints = listEndpoints(document);
  return (
    <Card title={own.previewTitle(endpoints.length)}>
      <div className="flex flex-col gap-4">
        {faults.length > 0 && (
          <ul role="alert" className="rounded-control border border-danger-line bg-danger-soft px-3 py-2 text-danger">
            {faults.map(({ pointer, message }) => (
              <li key={`${pointer} ${message}`}>
                <code className="font-mono">{pointer}</code> {message}
              </li>
            ))}
          </ul>
        )}
        {difference && <Difference {...difference} />}
        <DataTable
          label={own.endpoints}
          rows={endpoints.slice(0, maxRows)}
          columns={columns}
          idOf={({ method, path }) => `${method} ${path}`}
          nameOf={({ id }) => id}
        />
        {endpoints.length > maxRows && <p className="text-dim">{texts.history.more(endpoints.length - maxRows)}</p>}
        <details className="rounded-control border border-line">
          <summary className="px-3 py-2">{own.document}</summary>
          <div className="p-3 pt-0">
            <CodeEditor label={own.document} value={JSON.stringify(document, null, 2)} isReadOnly />
          </div>
        </details>
        <div>
          <Button kind="primary" disabled={faults.length > 0} isBusy={isBusy} onClick={onStore}>
            {action}
          </Button>
        </div>
      </div>
    </Card>
  );
}

const Difference = ({ added, changed, removed }: NonNullable<PreviewedImport['difference']>) => (
  <div className="flex flex-col gap-1">
    <p>
      <Badge tone="success">{own.added(added.length)}</Badge>{' '}
      <span className="font-mono text-small break-all">{added.slice(0, maxNamed).join(', ')}</span>
    </p>
    <p>
      <Badge tone="warning">{own.changed(changed.length)}</Badge>{' '}
      <span className="font-mono text-small break-all">{changed.slice(0, maxNamed).join(', ')}</span>
    </p>
    <p>
      <Badge tone="danger">{own.removed(removed.length)}</Badge>{' '}
    </p>
    {removed.length > 0 && (
      <>
        <ul aria-label={own.removedList} className="flex flex-col gap-1">
          {removed.slice(0, maxNamed).map(({ name, middleware }) => (
            <li key={name} className="flex flex-wrap items-center gap-2">
              <code className="font-mono text-small break-all">{name}</code>
              {middleware.map(it => (
                <Badge key={it} tone="warning">
                  {endpointTexts.names[it] ?? it}
                </Badge>
              ))}
            </li>
          ))}
          {removed.length > maxNamed && <li className="text-dim">{texts.history.more(removed.length - maxNamed)}</li>}
        </ul>
        <p className="text-small text-dim">{own.removedHelp}</p>
      </>
    )}
  </div>
);
