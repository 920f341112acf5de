import { Link } from '@tanstack/react-router';
import { FileCode2 } from 'lucide-react';
import { buttonClass } from '../../../kit/button.tsx';
import { Notice } from '../../../kit/states.tsx';
import { texts } from '../../../texts/texts.ts';
import type { ApiOutline } from '../api-outline.ts';

const own = texts.designer;

/** The server has a schema of the OpenAPI format only. */
export const ClassicNotice = ({ api }: { api: ApiOutline }) => (
  <Notice
    icon={FileCode2}
    title={own.classicTitle}
    action={
      <span className="flex flex-wrap justify-center gap-2">
        <Link to="/apis/$apiId/code" params={{ apiId: api.id }} className={buttonClass('primary')}>
          {own.openCode}
        </Link>
        <Link to="/apis/$apiId/migrate" params={{ apiId: api.id }} className={buttonClass()}>
          {own.convert}
        </Link>
      </span>
    }
  >
    {own.classicAbout}
  </Notice>
);
