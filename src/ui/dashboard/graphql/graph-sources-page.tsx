import { Link } from '@tanstack/react-router';
import { Share2 } from 'lucide-react';
import { buttonClass } from '../../kit/button.tsx';
import { Notice } from '../../kit/states.tsx';
import { graphqlTexts } from '../../texts/en/graphql.ts';
import { ApiFrame, type LoadedApi } from '../apis/api-frame.tsx';
import { DataGraphEditor } from './data-graph-editor.tsx';
import { toGraphOutline } from './graph-outline.ts';
import { NoGraphNotice } from './no-graph-notice.tsx';
import { SupergraphEditor } from './supergraph-editor.tsx';

const own = graphqlTexts;

/** Sources of the fields of a data graph, or subgraphs of a supergraph. */
export const GraphSourcesPage = () => <ApiFrame>{loaded => <GraphSources key={loaded.api.id} {...loaded} />}</ApiFrame>;

function GraphSources(loaded: LoadedApi) {
  const graph = toGraphOutline(loaded.definition);
  if (!graph) return <NoGraphNotice apiId={loaded.api.id} />;
  if (graph.mode === 'supergraph') return <SupergraphEditor {...loaded} />;
  if (graph.mode === 'executionEngine') return <DataGraphEditor {...loaded} />;
  return (
    <Notice
      icon={Share2}
      title={own.withoutSources}
      action={
        <Link to="/apis/$apiId/schema" params={{ apiId: loaded.api.id }} className={buttonClass()}>
          {own.schema}
        </Link>
      }
    >
      {own.noSources}
    </Notice>
  );
}
