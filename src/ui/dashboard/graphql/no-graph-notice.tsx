import { Link } from '@tanstack/react-router';
import { Share2 } from 'lucide-react';
import { buttonClass } from '../../kit/button.tsx';
import { Notice } from '../../kit/states.tsx';
import { graphqlTexts } from '../../texts/en/graphql.ts';

const own = graphqlTexts;

/** In place of a page about GraphQL, for an API without a schema. */
export const NoGraphNotice = ({ apiId }: { apiId: string }) => (
  <Notice
    icon={Share2}
    title={own.notGraphql}
    action={
      <Link to="/apis/$apiId/code" params={{ apiId }} className={buttonClass()}>
        {own.definition}
      </Link>
    }
  >
    {own.notGraphqlAbout}
  </Notice>
);
