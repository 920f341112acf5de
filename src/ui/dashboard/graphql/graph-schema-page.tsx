import { Link, useParams } from '@tanstack/react-router';
import { Share2 } from 'lucide-react';
import { Badge } from '../../kit/badge.tsx';
import { buttonClass } from '../../kit/button.tsx';
import { Card } from '../../kit/card.tsx';
import { type Column, DataTable } from '../../kit/data-table.tsx';
import { useOperation } from '../../kit/queries.ts';
import { Notice, QueryState } from '../../kit/states.tsx';
import { texts } from '../../texts/texts.ts';
import { ApiHead } from '../apis/api-head.tsx';
import { toApiOutline } from '../apis/api-outline.ts';
import { type GraphOutline, type GraphSource, toGraphOutline } from './graph-outline.ts';
import { SchemaEditor } from './schema-editor.tsx';

const own = texts.graphql;

/** Schema and data sources of a GraphQL API. */
export function GraphSchemaPage() {
  const { apiId } = useParams({ from: '/shell/apis/$apiId/schema' });
  const query = useOperation('GET /api/apis/{apiId}', { params: { apiId } });
  if (!query.data) return <QueryState query={query} />;
  const { value, etag } = query.data;
  const api = toApiOutline(value);
  const graph = toGraphOutline(value.api_definition);
  return (
    <ApiHead api={api} actions={graph && <Badge>{own.kinds[graph.mode] ?? graph.mode}</Badge>}>
      {graph ? (
        <div className="flex flex-col gap-4">
          <SchemaEditor key={etag} api={api} graph={graph} definition={value.api_definition} etag={etag} />
          <Sources graph={graph} />
        </div>
      ) : (
        <Notice
          icon={Share2}
          title={own.notGraphql}
          action={
            <Link to="/apis/$apiId/code" params={{ apiId: api.id }} className={buttonClass()}>
              {own.definition}
            </Link>
          }
        >
          {own.notGraphqlAbout}
        </Notice>
      )}
    </ApiHead>
  );
}

const columns: readonly Column<GraphSource>[] = [
  {
    id: 'name',
    title: own.sourceColumns.name,
    cell: ({ name }) => <span className="font-medium break-all">{name}</span>,
  },
  { id: 'kind', title: own.sourceColumns.kind, cell: ({ kind }) => <Badge>{kind}</Badge> },
  {
    id: 'fields',
    title: own.sourceColumns.fields,
    cell: ({ fields }) => <span className="font-mono text-small break-all">{fields.join(', ')}</span>,
  },
  {
    id: 'url',
    title: own.sourceColumns.url,
    cell: ({ url }) => <code className="font-mono text-small break-all">{url}</code>,
  },
];

const Sources = ({ graph: { sources } }: { graph: GraphOutline }) => (
  <Card title={own.sources}>
    {sources.length === 0 ? (
      <p className="text-dim">{own.noSources}</p>
    ) : (
      <DataTable
        label={own.sourceList}
        rows={sources}
        columns={columns}
        idOf={({ name }) => name}
        nameOf={({ name }) => name}
      />
    )}
  </Card>
);
