/** The runs of a document. */
import { listRuns } from '../../store/document/views.ts';
import { limitOf, nextPage, numberCursor } from '../cursor.ts';
import type { StoreHandlers, StoreService } from '../service.ts';
import { viewItems } from '../view/item.ts';
import { ownDocument } from './corpora.ts';

export function runRoutes(service: StoreService) {
  return {
    'GET /documents/:id/items': async ({ caller, params, query }) => {
      const { id } = await ownDocument(service, caller.callerId, params.id);
      const limit = limitOf(query);
      const before = numberCursor(query) ?? Number.MAX_SAFE_INTEGER;
      const rows = await listRuns(service.database, { document_id: id, before, limit });
      return { items: await viewItems(service, rows), ...nextPage(rows, limit, (row) => row.id) };
    },
  } satisfies Partial<StoreHandlers>;
}
