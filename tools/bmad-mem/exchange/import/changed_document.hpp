// changed_document.hpp - a document that its program writes as changes, as VS Code does its chats:
//
//   {"kind":0,"v":{…}}                               the document
//   {"kind":1,"k":["requests",0,"result"],"v":{…}}   this member of it is that
//   {"kind":2,"k":["requests"],"v":[…],"i":1}        behind the first element of this array come
//   those
//   {"kind":3,"k":["requests",0,"vote"]}             this member is gone
//
// Code, since a table of steps sees a record at a time, and an element of the document is what many
// lines make of it. Changes deeper than in a member of a part of an answer are counted, and left
// out.
#pragma once

#include <memory>

#include "exchange/import/importer.hpp"

namespace bmad_mem::cli {

/// Hands the document to `inner` as a file of one document is: its members, and the elements of
/// "requests" as records. A document that is none of changes goes through as it comes.
std::unique_ptr<RecordImporter> make_changed_document_importer(
    const ImportContext& context, std::unique_ptr<RecordImporter> inner);

}  // namespace bmad_mem::cli
