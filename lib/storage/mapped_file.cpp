#include "storage/mapped_file.hpp"

#include <utility>

#include <boost/interprocess/exceptions.hpp>
#include <boost/interprocess/mapped_region.hpp>

#include "posix_error.hpp"

namespace bmad_mem {
namespace {

namespace ipc = boost::interprocess;

/// What mapped_region asks of a mapping. Boost's own file_mapping opens by name, and between two
/// openings the name could come to mean another file.
class DescriptorMapping {
 public:
  explicit DescriptorMapping(int descriptor) : descriptor_(descriptor) {}

  [[nodiscard]] ipc::mapping_handle_t get_mapping_handle() const {
    return ipc::ipcdetail::mapping_handle_from_file_handle(descriptor_);
  }
  [[nodiscard]] ipc::mode_t get_mode() const { return ipc::read_only; }

 private:
  int descriptor_;
};

}  // namespace

struct MappedFile::Impl {
  FileInfo info;
  ipc::mapped_region region;  // Empty when the file is, or when the bytes were read.
  std::string copy;           // Used on file systems without descriptors.
  std::string_view bytes;     // Of one of the two.
};

MappedFile::MappedFile(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
MappedFile::MappedFile(MappedFile&&) noexcept = default;
MappedFile& MappedFile::operator=(MappedFile&&) noexcept = default;
MappedFile::~MappedFile() = default;

Result<MappedFile> MappedFile::map(FileSystem& files, const std::string& path) {
  BMAD_TRY_ASSIGN(const std::unique_ptr<File> file, files.open(path, OpenMode::kRead));
  auto impl = std::make_unique<Impl>();
  BMAD_TRY_ASSIGN(impl->info, file->info());
  const std::size_t size = impl->info.size;
  if (size == 0) {
    return MappedFile(std::move(impl));  // The system maps no empty range.
  }
  if (file->descriptor() < 0) {
    impl->copy.resize(size);
    BMAD_TRY_ASSIGN(const std::size_t got, file->read_at(0, impl->copy));
    impl->copy.resize(got);
    impl->bytes = impl->copy;
    return MappedFile(std::move(impl));
  }
  try {
    impl->region =
        ipc::mapped_region(DescriptorMapping(file->descriptor()), ipc::read_only, 0, size);
  } catch (const ipc::interprocess_exception& failure) {
    return posix_error(failure.get_native_error(), "map into memory", files.display_path(path));
  }
  impl->bytes = {static_cast<const char*>(impl->region.get_address()), size};
  return MappedFile(std::move(impl));
}

std::string_view MappedFile::bytes() const { return impl_->bytes; }

const FileInfo& MappedFile::info() const { return impl_->info; }

}  // namespace bmad_mem
