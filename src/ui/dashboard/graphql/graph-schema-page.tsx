import { Link } from '@tanstack/react-router';
import { Share2 } from 'lucide-react';
import { Badge } from '../../kit/badge.tsx';
import { buttonClass } from '../../kit/button.tsx';
import { Card } from '../../kit/card.tsx';
import { type Column, DataTable } from '../../kit/data-table.tsx';
import { Notice } from '../../kit/states.tsx';
import { graphqlTexts } from '../../texts/en/graphql.ts';
import { ApiFrame, type LoadedApi } from '../apis/api-frame.tsx';
import { type GraphOutline, type GraphSource, toGraphOutline } from './graph-outline.ts';
import { NoGraphNotice } from './no-graph-notice.tsx';
import { SchemaEditor } from './schema-editor.tsx';

const own = graphqlTexts;

/** Schema and data sources of a GraphQL API. */
export const GraphSchemaPage = () => <ApiFrame>{loaded => <GraphSchema key={loaded.api.id} {...loaded} />}</ApiFrame>;

function GraphSchema(loaded: LoadedApi) {
  const graph = toGraphOutline(loaded.definition);
  if (!graph) return <NoGraphNotice apiId={loaded.api.id} />;
  if (graph.mode === 'supergraph')
    return (
      <Notice icon={Share2} title={own.kinds.supergraph!} action={<SourcesLink loaded={loaded} graph={graph} />}>
        {own.composedAbout}
      </Notice>
    );
  return (
    <div className="flex flex-col gap-4">
      <div>
        <Badge>{own.kinds[graph.mode] ?? graph.mode}</Badge>
      </div>
      <SchemaEditor {...loaded} />
      <Sources graph={graph} loaded={loaded} />
    </div>
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

interface GraphProps {
  readonly loaded: LoadedApi;
  readonly graph: GraphOutline;
}

const SourcesLink = ({ loaded, graph }: GraphProps) => (
  <Link to="/apis/$apiId/graph" params={{ apiId: loaded.api.id }} className={buttonClass()}>
    {graph.mode === 'supergraph' ? own.openSubgraphs : own.openSources}
  </Link>
);

const Sources = ({ loaded, graph }: GraphProps) => (
  <Card title={own.sources} action={loaded.api.hasSources && <SourcesLink loaded={loaded} graph={graph} />}>
    {graph.sources.length === 0 ? (
      <p className="text-dim">{own.noSources}</p>
    ) : (
      <DataTable
        label={own.sourceList}
        rows={graph.sources}
        columns={columns}
        idOf={({ name }) => name}
        nameOf={({ name }) => name}
      />
    )}
  </Card>
);
